/* Grid Atlas: an interactive chart of one grid, beside its picture.
   gridatlas.js loads this module when a reader asks for it, and with it Vega. Texts from the data
   are only ever values of data, titles, domains and text nodes: never expressions, never markup. */

const VEGA = "vega.js"; // The build puts the name with Vega's version here.
const FADED = 0.14;
const MEANS = ["room", "means", "mean", "tab", "asserted"]; // The profiles have them with intervals.
const MOST_CELLS = 10_000;
const MOST_BYTES = 6_000_000;
const NARROW = 440; // Pixels of a panel below which profiles take less room.

/** What went wrong, in a reader's words; `again` tells whether it may go well another time. */
export class Unavailable extends Error {
  constructor(message, again = true) {
    super(message);
    this.again = again;
  }
}

/** The charts that are alive. */
export const views = new Set();

/**
 * Draw the chart of a grid into a panel.
 * @param {object} wanted
 * @param {string} wanted.base Address of the grid's files, without their ending.
 * @param {string} wanted.title Name of the grid.
 * @param {HTMLElement} wanted.panel Where it is drawn.
 * @param {AbortSignal} wanted.signal Ends everything.
 * @param {number} wanted.attempt How often it was tried before.
 */
export async function explore(wanted) {
  const { base, panel, signal, attempt } = wanted;
  const [vegaEmbed, grid, drawn] = await Promise.all([
    vega(attempt), json(`${base}.json`, signal), json(`${base}.vl.json`, signal),
  ]);
  if (signal.aborted) return;
  if (grid.cells.length > MOST_CELLS) throw tooLarge();
  const chart = new Chart(vegaEmbed, wanted, grid, drawn);
  try {
    await chart.draw();
  } catch (error) {
    chart.end();
    throw error;
  }
  signal.addEventListener("abort", () => chart.end());
  if (signal.aborted) chart.end();
  else panel.append(...chart.parts());
}

const tooLarge = () => new Unavailable(
  "The grid has more cells than can be explored here; its files have them all.", false);

async function vega(attempt) {
  try {
    // Browsers remember a module that failed by its address.
    const again = attempt ? `?again=${attempt}` : "";
    return (await import(new URL(VEGA + again, import.meta.url).href)).vegaEmbed;
  } catch {
    throw new Unavailable(`The program that draws it, ${VEGA}, could not be loaded.`);
  }
}

async function json(url, signal) {
  const name = decodeURIComponent(url.split("/").pop());
  let response;
  try {
    response = await fetch(url, { signal });
  } catch {
    throw new Unavailable(`The grid's data, ${name}, could not be loaded.`);
  }
  if (!response.ok) {
    throw new Unavailable(`The grid's data, ${name}, could not be loaded (${response.status}).`);
  }
  if (Number(response.headers.get("content-length")) > MOST_BYTES) {
    response.body?.cancel();
    throw tooLarge();
  }
  try {
    return await response.json();
  } catch {
    throw new Unavailable(`The grid's data, ${name}, could not be read.`);
  }
}

class Chart {
  constructor(vegaEmbed, wanted, grid, drawn) {
    this.vegaEmbed = vegaEmbed;
    this.wanted = wanted;
    this.grid = grid;
    this.drawn = drawn;
    this.turn = 0;
    const { metric, cells } = grid;
    const values = cells.map((cell) => cell.value).filter((value) => value !== null);
    this.values = values;
    this.low = Math.min(...values);
    this.high = Math.max(...values);
    this.best = metric.better === "lower" ? this.low : this.high;
    const best = cells.filter((cell) => cell.value === this.best);
    this.doubt = best.every((cell) => cell.state === "disputed") ? " (disputed)" : "";
    this.step = (10 ** -metric.decimals).toFixed(metric.decimals);
    // Rounded up: at its right end the slider leaves no cell out.
    const spread = values.length ? this.away(this.low + this.high - this.best) : 0;
    this.spread = (Math.ceil(spread / this.step - 1e-6) * this.step).toFixed(metric.decimals);
    this.delta = Number(this.spread);
    this.profile = wanted.panel.clientWidth < NARROW ? 48 : 76;
    this.rows = this.described();
    this.build();
  }

  /** Distance from the best, without the noise of binary fractions. */
  away(value) {
    return Number(Math.abs(value - this.best).toFixed(9));
  }

  number(value) {
    return window.gridAtlas.written(value, this.grid.metric.decimals);
  }

  value(value) {
    return `${this.number(value)} ${this.grid.metric.unit}`.trim();
  }

  difference(value) {
    const { unit } = this.grid.metric;
    return `${this.number(value)} ${unit === "%" ? "points" : unit}`.trim();
  }

  /** The rows of the static chart, with what the interactive one shows besides. */
  described() {
    const { metric, profiles, cells } = this.grid;
    const [x, y] = [profiles.x, profiles.y].map((means) => means.map((mean) => mean.label));
    const at = new Map(cells.map((cell, index) => {
      return [JSON.stringify([x[index % x.length], y[Math.floor(index / x.length)]]), cell];
    }));
    const ordered = [...this.values].sort((a, b) => (metric.better === "lower" ? a - b : b - a));
    const ranks = new Map(); // Equal values share the better rank.
    ordered.forEach((value, index) => {
      if (!ranks.has(value)) ranks.set(value, index + 1);
    });
    return this.drawn.data.values.map((row) => {
      const cell = at.get(JSON.stringify([row.x, row.y]));
      const { value } = cell;
      if (value === null) return { ...row, tip: row.label };
      const rank = ranks.get(value);
      const lines = [row.label];
      if (cell.interval_95) lines.push(`95 % interval: ${this.range(cell)}`);
      if (cell.range) lines.push(`Range of its repeats: ${this.range({ interval_95: cell.range })}`);
      if (cell.n) lines.push(`n = ${cell.n}`);
      lines.push(`Rank ${rank} of ${this.values.length}`);
      if (value !== this.best) lines.push(`${this.difference(this.away(value))} from the best${this.doubt}`);
      return { ...row, rank, away: this.away(value), tip: lines.join("\n") };
    });
  }

  // --- the chart ----------------------------------------------------------------------------------

  specification() {
    const { $schema, config, title, description, background, data, ...heatmap } =
      structuredClone(this.drawn);
    const layers = heatmap.layer.filter(({ name }) => !MEANS.includes(name))
      .map((layer) => this.layer(layer));
    const { profiles } = this.grid;
    const scale = this.profileScale();
    const [x, y] = [heatmap.encoding.x.scale, heatmap.encoding.y.scale];
    const rule = { gridColor: "currentColor", gridOpacity: 0.2, domain: false, ticks: false };
    const mean = { field: "mean", type: "quantitative", scale };
    const axis = { ...rule, aria: false, title: "Mean", tickCount: 3, labelPadding: 4 };
    const profile = (name, means, along, across, level) => ({
      name,
      data: { values: this.meanRows(means) },
      encoding: {
        [along]: { field: "at", type: "nominal", sort: null, axis: null,
          scale: { ...level, type: "band" } },
        tooltip: { field: "tip", type: "nominal" },
        description: { field: "tip", type: "nominal" },
      },
      layer: [
        {
          transform: [{ filter: "isValid(datum.low)" }],
          mark: { type: "rule", stroke: "currentColor", strokeWidth: 1.5, aria: false },
          encoding: {
            [across]: { ...mean, field: "low", axis },
            [`${across}2`]: { field: "high" },
          },
        },
        {
          transform: [{ filter: "isValid(datum.mean)" }],
          mark: { type: "point", filled: true, fill: "currentColor", opacity: 1, size: 45,
            aria: true },
          encoding: { [across]: { ...mean, axis } },
        },
      ],
    });
    return {
      $schema,
      config,
      background,
      description,
      title: { ...title, anchor: "start" },
      params: [{ name: "delta", value: this.delta }],
      columns: 2,
      bounds: "flush",
      spacing: 10,
      concat: [
        { ...profile("columns", profiles.x, "x", "y", x),
          width: heatmap.width, height: this.profile },
        { name: "nothing", data: { values: [] }, width: this.profile, height: this.profile,
          mark: { type: "point", aria: false } },
        { ...heatmap, name: "grid", data: { values: this.rows }, layer: layers },
        { ...profile("rows", profiles.y, "y", "x", y), width: this.profile, height: heatmap.height },
      ],
    };
  }

  layer(layer) {
    if (layer.data) return layer; // Outlines and legends are no cells.
    // On all that is drawn on a cell: what lies on top is what the pointer meets.
    const encoding = { ...layer.encoding, tooltip: { field: "tip", type: "nominal" } };
    if (layer.name === "absent") return { ...layer, encoding };
    const far = "datum.away > delta";
    if (layer.name === "values" || layer.name === "bold") {
      // On a faded fill, the page's own colour is the one that can be read.
      encoding.fill = { ...encoding.fill, condition: { test: far, value: "currentColor" } };
    } else {
      encoding.opacity = { condition: { test: far, value: FADED }, value: 1 };
    }
    return { ...layer, encoding };
  }

  /** One scale for both profiles, so that they can be compared. */
  profileScale() {
    const { x, y } = this.grid.profiles;
    const ends = [...x, ...y].filter((one) => one.mean !== null)
      .flatMap((one) => one.interval_95 ?? [one.mean]);
    const [low, high] = ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 1];
    const room = high > low ? (high - low) * 0.06 : 0.5;
    return { domain: [low - room, high + room], nice: false, zero: false };
  }

  meanRows(means) {
    return means.map((one) => {
      if (one.mean === null) return { at: one.label, mean: null, tip: `${one.label}: no value` };
      const [low, high] = one.interval_95 ?? [null, null];
      const tip = `${one.label}: mean ${this.meanText(one)}`;
      return { at: one.label, mean: one.mean, low, high, tip };
    });
  }

  meanText(one) {
    return one.interval_95 ? `${this.value(one.mean)} (${this.range(one)})` : this.value(one.mean);
  }

  /** A 95 % interval in words. */
  range({ interval_95: ends }) {
    return ends.map((end) => this.number(end)).join(" to ");
  }

  /** Draw anew; of several draws under way the last one stays. */
  async draw() {
    const turn = ++this.turn;
    const place = document.createElement("div");
    const result = await this.vegaEmbed(place, this.specification(), {
      mode: "vega-lite",
      ast: true, // Without `eval`, as a strict content security policy has it.
      renderer: "svg",
      actions: false,
      defaultStyle: false,
      loader: NOTHING,
      tooltip: (_handler, event, _item, text) => this.tell(event, text),
    });
    if (turn !== this.turn) {
      result.finalize();
      return;
    }
    this.finish();
    this.result = result;
    views.add(result.view);
    this.place.replaceChildren(place);
    const svg = place.querySelector("svg");
    svg.style.maxWidth = "100%";
    svg.style.height = "auto";
  }

  finish() {
    if (!this.result) return;
    views.delete(this.result.view);
    this.result.finalize();
    this.result = null;
  }

  end() {
    this.turn += 1;
    this.finish();
    this.hint.remove();
  }

  tell(event, text) {
    this.hint.hidden = !text;
    if (!text) return;
    this.hint.textContent = text;
    const { offsetWidth, offsetHeight } = this.hint;
    const left = Math.min(event.clientX + 12, innerWidth - offsetWidth - 4);
    const below = event.clientY + 16;
    const top = below + offsetHeight > innerHeight ? event.clientY - offsetHeight - 8 : below;
    this.hint.style.left = `${Math.max(4, left)}px`;
    this.hint.style.top = `${Math.max(4, top)}px`;
  }

  // --- what the reader sets -----------------------------------------------------------------------

  build() {
    this.place = make("div", { class: "ga-explore-chart" });
    this.hint = make("div", { class: "ga-explore-hint", hidden: "" });
    this.told = make("p", { class: "ga-explore-told", role: "status" });
    const id = `ga-explore-${(panels += 1)}`;
    this.slider = make("input", {
      type: "range", id: `${id}-delta`, min: 0, max: this.spread, step: this.step,
      value: this.spread,
    });
    this.slider.disabled = Number(this.spread) === 0;
    this.slider.addEventListener("input", () => {
      this.delta = Number(this.slider.value);
      this.result?.view.signal("delta", this.delta).runAsync();
      this.say();
    });
    this.say();
  }

  say() {
    const delta = this.difference(this.delta);
    this.slider.setAttribute("aria-valuetext", delta);
    const all = this.values.length;
    const absent = this.grid.cells.length - all;
    if (!all) {
      this.told.textContent = "No cell has a value.";
      return;
    }
    const near = this.values.filter((value) => this.away(value) <= this.delta).length;
    const far = all - near;
    const others = far ? `; the other ${far} ${far === 1 ? "is" : "are"} faded` : "";
    this.told.textContent =
      `${near} of ${all} cells ${near === 1 ? "is" : "are"} within ${delta} of the best, ` +
      `${this.value(this.best)}${this.doubt}${others}.${absent ? ` ${absent} more without a value.` : ""}`;
  }

  parts() {
    const { metric, profiles, not_testable: reason } = this.grid;
    const unit = metric.unit === "%" ? "points" : metric.unit;
    const label = make("label", { for: this.slider.id },
      `Within δ${unit ? ` (${unit})` : ""} of the best`);
    const near = make("div", { class: "ga-explore-field" }, label, this.slider);
    const dots =
      "Dots: the means of the columns (above) and rows (right), over the cells with a value.";
    const notes = make("ul", { class: "ga-explore-notes" },
      make("li", {}, "δ is a distance, not a test. Where the trials behind the values are known, " +
        "a test told which cells may be the best, and they are marked."),
      make("li", {}, profiles.interval
        ? `${dots} Lines: their 95 % intervals, ${profiles.interval}.`
        : `${dots} No intervals: ${reason ?? "those of the cells are unknown"}.`),
      make("li", {}, "Ranks, where a cell is pointed at: equal values share the better one."));
    return [
      make("div", { class: "ga-explore-fields" }, near),
      this.told,
      this.place,
      this.means(),
      notes,
      make("p", { class: "ga-explore-save" },
        button("Save as SVG", () => this.saveSvg()), " ",
        button("Save as PNG", () => this.savePng())),
      this.hint,
    ];
  }

  means() {
    const { x, y, profiles } = this.grid;
    const table = (axis, means) => make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, axis.label),
        make("th", { scope: "col" }, "Mean"), make("th", { scope: "col" }, "95 % interval"),
        make("th", { scope: "col" }, "Cells"))),
      make("tbody", {}, ...means.map((one) => make("tr", {},
        make("th", { scope: "row" }, one.label),
        make("td", {}, one.mean === null ? "–" : this.number(one.mean)),
        make("td", {}, one.interval_95 ? this.range(one) : "–"),
        make("td", {}, String(one.cells))))));
    return make("details", {}, make("summary", {}, "Means as numbers"),
      make("div", { class: "ga-scroll", tabindex: 0, role: "region",
        "aria-label": `Means of ${this.wanted.title}` },
      table(x, profiles.x), table(y, profiles.y)));
  }

  // --- files --------------------------------------------------------------------------------------

  async saveSvg() {
    const svg = await this.result.view.toSVG();
    const styled = svg.replace(/<svg[^>]*>/, (tag) => tag + READERS_COLOURS);
    this.save(new Blob([styled], { type: "image/svg+xml" }), "svg");
  }

  async savePng() {
    const drawn = await this.result.view.toCanvas(2);
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [drawn.width, drawn.height];
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(drawn, 0, 0);
    canvas.toBlob((blob) => this.save(blob, "png"), "image/png");
  }

  save(blob, ending) {
    const { study, grid } = this.grid;
    const link = make("a", {
      href: URL.createObjectURL(blob),
      download: `${study}-${grid.replaceAll("/", "-")}-explored.${ending}`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }
}

/** A file of its own follows the colours of who opens it. */
const READERS_COLOURS = "<style>svg{color:#1f1f1f}" +
  "@media(prefers-color-scheme:dark){svg{color:#e6e6e6}}</style>";

/** Vega's way to files and addresses: there is none. */
const refuse = async () => { throw new Error("a chart loads nothing"); };
const NOTHING = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

let panels = 0;

function make(name, attributes, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...content);
  return element;
}

function button(text, action) {
  const element = make("button", { type: "button", class: "ga-button" }, text);
  element.addEventListener("click", action);
  return element;
}
