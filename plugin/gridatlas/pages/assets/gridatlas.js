/* Grid Atlas: what a reader can do with a drawn heatmap. The pages are whole without it.

   Every heatmap comes with a small table of texts (data-cells of its figure, or packed in data-cards
   of its row). Texts from data are only ever put in as text. All listeners are on the document, once,
   since the theme may replace the page's content without loading it anew. */
(() => {
  "use strict";
  if (window.gridAtlas) return;

  /** A number as pages have it: half away from zero, of the decimal number that a float stands for. */
  const written = (value, decimals) => {
    const whole = Math.round(Number(`${Math.abs(value).toFixed(decimals + 9)}e${decimals}`));
    if (!(whole < 2 ** 53)) return value.toFixed(decimals).replace("-", "−");
    return (value < 0 && whole ? "−" : "") + (whole / 10 ** decimals).toFixed(decimals);
  };
  const make = (name, within, text, attributes = {}) => {
    const made = document.createElement(name);
    if (text != null) made.textContent = text;
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (within) within.append(made);
    return made;
  };
  /** Run something on each page, also on one that the theme puts in place without loading it. */
  const ready = (run) => {
    if (window.document$) window.document$.subscribe(run);
    else if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", run);
    else run();
  };
  window.gridAtlas = { make, written, ready };

  const CELL = ".ga-live path[role=button]";
  const LINKED = ".ga-figure svg path[id]"; // also cells of a heatmap without cards
  const OURS = ".ga-figure, .ga-claims, .ga-folds, .ga-fold, .ga-rerun"; // what pages of ours have
  const LEAVE = 150; // ms until a card goes that the pointer has left
  const STATES = ["cell", "with", "show", "sort", "open"]; // of the page, in its address

  /* --- the heatmaps of the page --------------------------------------------------------------- */

  const known = new WeakMap();

  /** The entry of a column: one value for all cells, texts and where each stands, or a list. */
  const entry = (column, at) =>
    Array.isArray(column) ? column[at] : column && column.of ? column.of[column.at[at]] : column;

  /** A heatmap with its texts and its cells in reading order; null where they don't fit. */
  const heatmap = (svg) => {
    if (!known.has(svg)) known.set(svg, read(svg));
    return known.get(svg);
  };
  const read = (svg) => {
    const { cards, dataset } = svg.closest("figure");
    const data = cards || (dataset.cells && JSON.parse(dataset.cells));
    const drawn = svg.querySelectorAll('path[role="img"], path[role="button"]');
    const frame = svg.querySelector(".role-frame path.background");
    const size = frame && /h([\d.]+)v([\d.]+)/.exec(frame.getAttribute("d"));
    if (!data || !size) return null;
    const [nx, ny] = [data.x.ids.length, data.y.ids.length];
    if (drawn.length !== nx * ny) return null;
    // Those without a value are drawn after all others.
    const order = [...drawn.keys()];
    const given = order.filter((at) => entry(data.value, at) != null);
    const absent = order.filter((at) => entry(data.value, at) == null);
    const cells = [];
    [...given, ...absent].forEach((at, place) => (cells[at] = drawn[place]));
    const labels = [...svg.querySelectorAll(".role-axis-label")].map((one) => one.children);
    return {
      svg, data, nx, ny, cells, labels,
      plot: frame.parentNode,
      place: new Map(cells.map((cell, at) => [cell, at])),
      width: size[1] / nx,
      height: size[2] / ny,
    };
  };
  const heatmaps = () =>
    [...document.querySelectorAll(".ga-figure > svg.ga-live")].map(heatmap).filter(Boolean);

  const unpacked = (text) => {
    const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt());
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  /** Make the cells of new heatmaps buttons, of which one is a stop for the key Tab. */
  const prepare = async () => {
    for (const packed of document.querySelectorAll("template[data-cards]")) {
      const cards = JSON.parse(await unpacked(packed.dataset.cards));
      const figures = packed.parentElement.querySelectorAll(".ga-figure");
      figures.forEach((figure, at) => (figure.cards = cards[at]));
    }
    for (const svg of document.querySelectorAll(".ga-figure > svg:not(.ga-live)")) {
      const map = heatmap(svg);
      if (!map) continue;
      svg.classList.add("ga-live");
      for (const cell of map.cells) {
        cell.setAttribute("role", "button");
        cell.setAttribute("tabindex", "-1");
        cell.setAttribute("aria-haspopup", "dialog");
      }
      stop(map, map.cells[0]);
    }
  };
  const stop = (map, cell) => {
    if (map.stop) map.stop.setAttribute("tabindex", "-1");
    map.stop = cell;
    cell.setAttribute("tabindex", "0");
  };
  const cellAt = (target) => target.closest?.(CELL) ?? null;
  const mapOf = (cell) => heatmap(cell.ownerSVGElement);
  const place = (cell) => {
    const map = mapOf(cell);
    const at = map.place.get(cell);
    return { map, at, column: at % map.nx, row: Math.floor(at / map.nx) };
  };

  /* --- crosshair and rings -------------------------------------------------------------------- */

  const RINGS = ["row", "column", "cell", "linked", "focus", "held"];
  const rings = (map) => {
    if (!map.rings) {
      const make = (name, within, ring) => {
        const made = document.createElementNS("http://www.w3.org/2000/svg", name);
        if (ring) made.setAttribute("class", ring);
        return within.appendChild(made);
      };
      const all = make("g", map.plot, "ga-rings");
      all.setAttribute("aria-hidden", "true");
      map.rings = Object.fromEntries(RINGS.map((name) => [name, make("g", all, `ga-ring-${name}`)]));
      // White below black: one of them stands out on every fill.
      for (const ring of Object.values(map.rings)) make("rect", ring), make("rect", ring);
      // Two cells that are compared: the first is A, the other B.
      for (const name of ["held", "cell"]) {
        const letter = make("text", map.rings[name]);
        for (const key of ["dx", "dy"]) letter.setAttribute(key, key === "dx" ? 3 : 12);
      }
    }
    return map.rings;
  };
  const ring = (map, name, x, y, nx, ny) => {
    const group = rings(map)[name];
    group.setAttribute("class", `ga-ring-${name} ga-on`);
    const box = { x: x * map.width, y: y * map.height, width: nx * map.width, height: ny * map.height };
    for (const rect of group.children) {
      for (const key in box) rect.setAttribute(key, box[key]);
    }
  };
  const letter = (map, name, text) => {
    rings(map)[name].lastChild.textContent = text;
  };
  const clear = (map, names) => {
    if (!map.rings) return;
    for (const name of names) map.rings[name].setAttribute("class", `ga-ring-${name}`);
  };
  /** Mark the cells of an address, `<x>,<y>`, in all heatmaps, and its row in all dot plots. */
  const point = (key) => {
    for (const row of document.querySelectorAll(".ga-row")) {
      row.classList.toggle("ga-on", !!key && row.dataset.cell === key);
    }
  };
  // A study with one axis has one row, without a name.
  const keyOf = ({ map, column, row }) =>
    [map.data.x.ids[column], map.data.y.ids[row]].filter(Boolean).join(",");

  /** Mark a cell's row and column, and the same cell in all heatmaps of its study. */
  const cross = (cell) => {
    const of = cell && place(cell);
    point(of && keyOf(of));
    for (const map of heatmaps()) {
      clear(map, RINGS.slice(0, 4));
      for (const one of map.svg.querySelectorAll("text.ga-on")) one.removeAttribute("class");
      if (!of || map.data.study !== of.map.data.study) continue;
      const column = map.data.x.ids.indexOf(of.map.data.x.ids[of.column]);
      const row = map.data.y.ids.indexOf(of.map.data.y.ids[of.row]);
      if (column < 0 || row < 0) continue;
      ring(map, map === of.map ? "cell" : "linked", column, row, 1, 1);
      if (map !== of.map) continue;
      letter(map, "cell", held?.isConnected && held !== cell ? "B" : "");
      ring(map, "row", 0, row, map.nx, 1);
      ring(map, "column", column, 0, 1, map.ny);
      const [xs, ys] = map.labels;
      if (xs && xs.length === map.nx) xs[column].setAttribute("class", "ga-on");
      if (ys && ys.length === map.ny) ys[row].setAttribute("class", "ga-on");
    }
  };

  /* --- the card ------------------------------------------------------------------------------- */

  const button = (within, label, action) =>
    make("button", within, label, { type: "button", "data-ga": action });
  const card = make("div", null, null, { class: "ga-card", id: "ga-card", hidden: "" });

  const idOf = (of) => of.map.data.grid && `${of.map.data.grid}/${keyOf(of)}`;

  /* --- two cells ------------------------------------------------------------------------------ */

  const number = (text) => Number(String(text).replaceAll(",", "").replace("−", "-"));
  const ends = (text) => (text ? text.split(" to ").map(number) : null);
  const saying = (of, name) => entry(of.map.data[name], of.at);
  const nameOf = ({ map: { data }, column, row }, full) => {
    const level = (axis, at) =>
      `${axis.label} ${axis.labels[at]} ${axis.unit || ""}`.trim();
    const cell = [level(data.x, column), level(data.y, row)].filter(Boolean).join(", ");
    return full ? `${data.title}, ${cell}` : cell;
  };
  const valueOf = (of) => {
    const value = saying(of, "value");
    return value == null ? saying(of, "state") : value + (of.map.data.unit || "");
  };
  /** What the difference of two cells is, with its interval by MOVER, which is Newcombe's. */
  const difference = (of, from) => {
    const [b, a] = [of, from].map((one) => saying(one, "value"));
    const unit = of.map.data.unit || "";
    if (a == null || b == null || unit !== (from.map.data.unit || "")) return "They can't be compared.";
    const decimals = Math.max(...[a, b].map((text) => (String(text).split(".")[1] || "").length));
    const signed = (value) => {
      const text = written(value, decimals);
      return (number(text) > 0 ? "+" : "") + text;
    };
    const [first, second] = [from, of].map((one) => number(saying(one, "exact") ?? saying(one, "value")));
    const d = second - first;
    const points = unit.trim() === "%" ? " points" : unit;
    const said = `Difference: ${signed(d)}${points}`;
    const [ofFirst, ofSecond] = [from, of].map((one) => ends(saying(one, "interval")));
    if (!ofFirst || !ofSecond) return `${said}. Not testable: no interval is known.`;
    const low = d - Math.hypot(second - ofSecond[0], ofFirst[1] - first);
    const high = d + Math.hypot(ofSecond[1] - second, first - ofFirst[0]);
    const beyond = low > 0 || high < 0;
    return `${said} (95 %: ${signed(low)} to ${signed(high)}). ` +
      (beyond
        ? "Beyond chance for this pair alone; of pairs that don't differ, 1 in 20 seems to."
        : "No difference shown: chance alone may explain it.") +
      " By the two intervals, taken as independent.";
  };
  let held = null; // the cell that others are compared with
  const hold = (cell) => {
    if (held && held.isConnected) clear(mapOf(held), ["held"]);
    held = cell;
    if (!cell) return;
    const { map, column, row } = place(cell);
    ring(map, "held", column, row, 1, 1);
    letter(map, "held", "A");
  };
  /** Hold a cell, or show another one compared with it. */
  const compare = (cell, keyed) => {
    const first = !held?.isConnected;
    if (held === cell) hold(null);
    else if (first) hold(cell);
    // By key the focus stays: the next key goes to the other cell.
    if (first && keyed) draw();
    else pin(cell, keyed);
  };

  /** The repeats of a value: a dot each, between the lowest and the highest, and their texts. */
  const strip = (within, text) => {
    const values = text.split(" · ").map(number);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const dots = values.map((value) => {
      const at = 4 + (92 * (value - low)) / (high - low || 1);
      return `radial-gradient(circle at ${at}% 50%, currentcolor 4px, #0000 4.5px)`;
    });
    make("div", within, null, { class: "ga-repeats" }).style.background = dots.join();
    make("p", within, `Repeats: ${text}`, { class: "ga-card-small" });
  };
  const fill = (of, open) => {
    const { data } = of.map;
    const say = (name) => saying(of, name);
    const inner = make("div", null, null, { class: "ga-card-inner" });
    const head = make("div", inner, null, { class: "ga-card-head" });
    const title = make("p", head, data.title, { id: "ga-card-title" });
    if (open) {
      button(head, "×", "close").setAttribute("aria-label", "Close");
    }
    make("span", title, nameOf(of));
    const value = say("value");
    const big = make("p", inner, valueOf(of), {
      class: value == null ? "ga-card-absent" : "ga-card-value",
    });
    if (value != null && say("state")) make("span", big, ` ${say("state")}`);
    const trials = [
      say("spread") && `${say("spread")}${data.unit || ""} (${data.spread_is})`,
      say("interval") && `95 % interval: ${say("interval")}${data.unit || ""}` +
        (data.basis ? ` (${data.basis})` : ""),
      say("range") && `Range of its repeats: ${say("range")}${data.unit || ""}`,
      say("n") && (say("successes") != null ? `${say("successes")} of n = ` : "n = ") + say("n"),
    ].filter(Boolean);
    if (trials.length) make("p", inner, trials.join(" · "));
    if (say("repeats")) strip(inner, say("repeats"));
    if (held && held !== of.map.cells[of.at]) {
      const from = place(held);
      const other = nameOf(from, from.map.data.title !== data.title);
      make("p", inner, `Against ${other}, ${valueOf(from)}. ${difference(of, from)}`);
    }
    if (say("tell")) make("p", inner, say("tell"));
    const readings = (data.readings || []).filter((one) => entry(one.at, of.at) != null);
    if (readings.length) {
      const table = make("table", inner);
      if (say("agree")) make("caption", table, say("agree"));
      for (const one of readings) {
        const line = make("tr", table);
        make("th", line, one.label, { scope: "row" });
        make("td", line, entry(one.at, of.at));
      }
    }
    if (say("note")) make("p", inner, say("note"));
    const small = (text) => make("p", inner, text, { class: "ga-card-small" });
    const more = (text, to, name) => {
      const line = small(text);
      // What comes and goes with the pointer stays small.
      if (open && to) line.append(" "), make("a", line, name, { href: to });
    };
    const links = data.links || {};
    if (say("from")) more(`From: ${say("from")}`, links.readings, "All readings");
    if (open && say("log")) make("a", make("p", inner), "Its log", { href: say("log") });
    if (data.command) {
      more("Measure it again:", links.rerun, "How to install");
      make("code", inner, command(of), { tabindex: "0" });
    }
    const actions = make("p", inner, null, { class: "ga-card-actions" });
    if (open && value != null) button(actions, "Copy value", "value");
    if (open) {
      const at = held === of.map.cells[of.at];
      const label = at ? "Stop comparing" : held ? "Compare with this" : "Compare";
      button(actions, label, "compare").title = "Shift-click, or c";
    }
    if (data.command) button(actions, "Copy command", "command");
    const id = idOf(of);
    if (id && document.getElementById(id)) {
      button(actions, "Copy link", "link");
      make("a", actions, "Permalink", { href: `#${id}`, "data-ga": "permalink" });
    }
    if (!open) {
      small("Click or Enter: keep it open");
    } else if (held === of.map.cells[of.at]) {
      small("Point at another cell to compare it with this one.");
    }
    make("p", inner, null, { class: "ga-card-said", role: "status" });
    card.replaceChildren(inner);
    // What comes and goes with the pointer is a picture's; the dialog is for everyone.
    const roles = { role: "dialog", "aria-labelledby": "ga-card-title", tabindex: "-1" };
    for (const key in roles) open ? card.setAttribute(key, roles[key]) : card.removeAttribute(key);
    open ? card.removeAttribute("aria-hidden") : card.setAttribute("aria-hidden", "true");
    if (!open) for (const one of stops()) one.setAttribute("tabindex", "-1");
  };
  const command = ({ map, column, row }) =>
    map.data.command
      .map((part) => (part.xy ? part.xy[row][column] : part.x ? part.x[column] : part.y ? part.y[row] : part))
      .join(" ");
  const stops = () => [...card.querySelectorAll("button, a, code")];

  /** Where a card has a place of its own: beside the heatmaps, or below one on a narrow page. */
  const dock = (cell, open) => {
    const aside = cell.closest(".ga-multiples")?.querySelector(".ga-howto");
    if (!aside) return null;
    if (matchMedia("(min-width: 1220px)").matches) return aside;
    return open ? cell.closest("figure") : null;
  };
  const lay = (cell, open) => {
    const into = dock(cell, open);
    card.classList.toggle("ga-docked", Boolean(into));
    if (into) card.removeAttribute("style");
    if (into?.matches("figure")) {
      if (card.previousElementSibling !== into) into.after(card);
      card.scrollIntoView({ block: "nearest" });
    }
    else if (!into) document.body.append(card);
    else if (card.parentNode !== into) into.prepend(card);
    put(cell);
  };
  /** Put the card beside its cell: within the window, where it hides the fewest other cells. */
  const put = (cell) => {
    if (card.classList.contains("ga-docked")) return;
    card.style.maxHeight = "";
    const of = cell.getBoundingClientRect();
    const plot = mapOf(cell).plot.querySelector("path.background").getBoundingClientRect();
    const header = document.querySelector(".md-header");
    const top = header ? Math.max(0, header.getBoundingClientRect().bottom) : 0;
    const { clientWidth: right, clientHeight: bottom } = document.documentElement;
    let { offsetWidth: width, offsetHeight: height } = card;
    const space = { above: of.top - top, below: bottom - of.bottom };
    const near = of.top - plot.top <= plot.bottom - of.bottom ? "above" : "below";
    const far = near === "above" ? "below" : "above";
    let side = [near, far].find((one) => space[one] >= height);
    if (!side && right - of.right >= width) side = "right";
    if (!side && of.left >= width) side = "left";
    if (!side) {
      side = space[near] >= space[far] ? near : far;
      height = Math.max(space[side], 140);
      card.style.maxHeight = `${height}px`;
    }
    const within = (at, low, high) => Math.max(low, Math.min(at, high));
    const level = side === "left" || side === "right";
    const x = level
      ? side === "right" ? of.right : of.left - width
      : within(of.left + of.width / 2 - width / 2, 2, right - width - 2);
    const y = level
      ? within(of.top + of.height / 2 - height / 2, top, bottom - height)
      : side === "below" ? of.bottom : of.top - height;
    card.style.left = `${x + window.scrollX}px`;
    card.style.top = `${y + window.scrollY}px`;
  };

  /* --- which cell it is about ----------------------------------------------------------------- */

  let hovered = null;
  let focused = null;
  let keyed = false; // whether the reader's last move was with a key
  let quiet = null; // the focused cell whose card was closed
  let pinned = null;
  let before = null; // what was pinned when the pointer went down
  let at = ""; // where the pointer is
  let left = null; // where it was when a card was closed: it doesn't point at what was behind that
  let shown = null;
  let frame = 0;
  let timer = 0;
  let path = ""; // of the page that is shown
  let last = null; // what has, or had, the focus

  const later = () => {
    frame = frame || requestAnimationFrame(draw);
  };
  const draw = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    const cell = pinned || hovered || (focused === quiet ? null : focused);
    const same = shown && shown.cell === cell && shown.open === Boolean(pinned);
    if (same || (!shown && !cell)) return;
    if (shown && shown.open) shown.cell.removeAttribute("aria-expanded");
    cross(cell);
    shown = cell && { cell, open: Boolean(pinned) };
    card.hidden = !cell;
    if (!cell) return;
    fill(place(cell), shown.open);
    if (shown.open) cell.setAttribute("aria-expanded", "true");
    lay(cell, shown.open);
  };
  /** What follows `#`: where it leads to on the page, and the page's state, `cell=…&show=…`. */
  const parts = () => {
    const all = location.hash.slice(1).split("&");
    const values = all.filter((part) => part.includes("="));
    return [all.filter((part) => !part.includes("=")).join("&"), new URLSearchParams(values.join("&"))];
  };
  /** A part of the page's state. */
  const asked = (name) => parts()[1].get(name) || "";
  /** Put a part of the page's state into its address, or take it out. */
  const state = (name, value) => {
    const [id, values] = parts();
    if ((values.get(name) || "") === (value || "")) return;
    values.set(name, value || "");
    // They are read by people: in one order, and `/` and `,` stay as they are.
    const given = STATES.filter((one) => values.get(one)).map(
      (one) => `${one}=${encodeURIComponent(values.get(one))}`);
    const text = given.join("&").replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%20", "+");
    const hash = [id, text].filter(Boolean).join("&");
    history.replaceState(history.state, "", location.pathname + location.search + (hash && `#${hash}`));
  };
  const pin = (cell, keyed) => {
    pinned = cell;
    draw();
    state("cell", idOf(place(cell)));
    state("with", held?.isConnected && held !== cell ? idOf(place(held)) : "");
    card.classList.toggle("ga-keyed", keyed);
    card.focus({ preventScroll: true });
  };
  /** Close the card; with the focus back on its cell where it was in the card. */
  const close = () => {
    const cell = pinned;
    const inside = card.contains(document.activeElement);
    pinned = hovered = null;
    for (const name of ["cell", "with"]) state(name, "");
    left = at;
    if (cell && inside) cell.focus({ preventScroll: true });
    quiet = focused;
    draw();
  };

  /* --- permalinks ----------------------------------------------------------------------------- */

  /** Unfold an element and all that it is folded in; false where nothing was folded. */
  const unfold = (element) => {
    let any = false;
    for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      any ||= !fold.open;
      fold.open = true;
    }
    return any;
  };
  /** Go to the page of a grid that this one only lists: its table links to it. */
  const elsewhere = (id) => {
    const grid = id.startsWith("grid/") ? id : `grid/${id.slice(0, id.lastIndexOf("/"))}`;
    // Thumbnails have no cells to open.
    if (document.getElementById(grid)?.closest(".ga-multiples")) return;
    for (const link of document.querySelectorAll("#grids th a")) {
      if (decodeURIComponent(link.hash.slice(1)) !== grid) continue;
      location.replace(link.href.split("#")[0] + location.hash);
      return;
    }
  };
  /** What the address leads to on this page; empty where that is no address of ours. */
  const fragment = () => {
    try {
      return decodeURIComponent(parts()[0]);
    } catch {
      return "";
    }
  };
  const target = () => {
    const id = fragment();
    const cell = id && document.getElementById(id);
    if (id) elsewhere(id);
    const opened = cell && document.querySelector(OURS) && unfold(cell);
    for (const one of document.querySelectorAll(".ga-target")) one.classList.remove("ga-target");
    if (!cell || !cell.matches(LINKED)) {
      if (opened) cell.scrollIntoView();
      return;
    }
    cell.classList.add("ga-target");
    // Search found this cell: it is what the reader came for.
    if (new URLSearchParams(location.search).has("h") && cell.matches(CELL)) pin(cell, false);
    const box = cell.getBoundingClientRect();
    const header = document.querySelector(".md-header");
    const top = header ? header.getBoundingClientRect().bottom : 0;
    if (box.top >= top && box.bottom <= window.innerHeight) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    cell.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
  };

  /* --- actions of the card -------------------------------------------------------------------- */

  const copy = async (text, code) => {
    const said = card.querySelector("[role=status]");
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "Copied";
    } catch {
      // Without the right to the clipboard the reader copies what is selected.
      said.textContent = code ? "Selected: copy it with your keyboard" : text;
      getSelection().selectAllChildren(code || said);
    }
  };
  const permalink = (id) => `${location.origin}${location.pathname}#${id}`;
  /** A cell's value with its interval, its source and its address, to be quoted. */
  const quoted = (of) => {
    const say = (name) => saying(of, name);
    const unit = of.map.data.unit || "";
    const parts = [
      say("state") && say("value") != null ? say("state") : "",
      say("spread") ? `${say("spread")}${unit}, ${of.map.data.spread_is}` : "",
      say("interval") ? `95 % interval ${say("interval")}${unit}` : "",
      say("n") ? `n = ${say("n")}` : "",
    ].filter(Boolean);
    const id = idOf(of);
    return [
      `${nameOf(of, true)}: ${valueOf(of)}` + (parts.length ? ` (${parts.join(", ")})` : ""),
      say("from") || "",
      id && document.getElementById(id) ? permalink(id) : "",
    ].filter(Boolean).join(". ");
  };
  const act = (event, action) => {
    const of = place(shown.cell);
    if (action === "close") close();
    if (action === "value") copy(quoted(of));
    if (action === "compare") {
      hold(held === shown.cell ? null : shown.cell);
      fill(of, true);
      put(shown.cell);
      card.querySelector("[data-ga=compare]").focus({ preventScroll: true });
    }
    if (action === "command") copy(command(of), card.querySelector("code"));
    if (action === "link") copy(permalink(idOf(of)));
    if (action === "permalink" && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
      // The cell is in sight: the address changes without a jump, and without the theme's say.
      event.preventDefault();
      event.stopPropagation();
      history.replaceState(history.state, "", permalink(idOf(of)));
      target();
    }
  };

  /* --- other versions of a row: another reading, plain values -------------------------------- */

  const versionOf = (row, name) =>
    row.querySelector(`:scope > template[data-version="${CSS.escape(name)}"]`);
  /** Show a version of a row, and what becomes of the answer. */
  const choose = async (row, name) => {
    const template = versionOf(row, name);
    const find = () => [...row.querySelectorAll(":scope > .ga-picture")];
    const of = (one) => (one.dataset.version || "") === (template ? name : "");
    row.wanted = name;
    const all = row.querySelector(":scope > template[data-packed]");
    const html = all && (await unpacked(all.dataset.packed));
    if (row.wanted !== name) return; // another one was asked for meanwhile
    if (all?.isConnected) {
      all.insertAdjacentHTML("beforebegin", html);
      all.remove();
      await prepare();
    }
    const shown = find().find(of);
    close();
    for (const one of find()) one.hidden = one !== shown;
    for (const one of row.querySelectorAll(".ga-readings button")) {
      one.setAttribute("aria-pressed", one.dataset.version === (template ? name : ""));
    }
    const heading = document.querySelector("article h1, main h1");
    const told = document.querySelector(".ga-becomes") ||
      make("p", null, null, { class: "ga-becomes", "aria-live": "polite" });
    if (heading && !told.isConnected) heading.after(told);
    told.textContent = template?.dataset.answer || "";
    state("show", template ? name : "");
  };
  /** Show the version that the address asks for. */
  const versions = async (name) => {
    for (const row of document.querySelectorAll(".ga-multiples:has(> template)")) {
      if (versionOf(row, name)) await choose(row, name);
    }
  };

  /* --- listeners ------------------------------------------------------------------------------ */

  const leave = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      hovered = null;
      later();
    }, LEAVE);
  };
  const over = (event) => {
    at = `${event.clientX} ${event.clientY}`;
    if (event.pointerType === "touch" || left === at) return;
    left = null;
    const cell = cellAt(event.target);
    if (cell || card.contains(event.target)) clearTimeout(timer);
    else if (hovered) leave();
    if (!cell || cell === hovered) return;
    hovered = cell;
    later();
  };
  /** Ring the cells of a row of a dot plot that is pointed at. */
  const row = (event) => {
    const at = event.target.closest?.(".ga-row[data-cell]");
    if (!at && !document.querySelector(".ga-row.ga-on:not(a:focus)")) return;
    if (shown) return;
    point(at && at.dataset.cell);
    for (const map of heatmaps()) {
      clear(map, ["linked"]);
      const [x, y = ""] = at ? at.dataset.cell.split(",") : [];
      const [column, line] = [map.data.x.ids.indexOf(x), map.data.y.ids.indexOf(y)];
      if (column >= 0 && line >= 0) ring(map, "linked", column, line, 1, 1);
    }
  };
  document.addEventListener("pointerover", row);
  document.addEventListener("pointerover", over);
  document.addEventListener(
    "pointermove",
    (event) => {
      if (left !== null) over(event);
      else at = `${event.clientX} ${event.clientY}`;
    },
    { passive: true },
  );
  document.addEventListener("pointerout", (event) => {
    if (hovered && !event.relatedTarget) leave();
  });
  document.addEventListener("pointerdown", (event) => {
    keyed = false;
    before = pinned;
    // Who reaches for a button of the card wants it to stay.
    if (shown && !shown.open && event.target.closest?.("[data-ga]")) {
      pinned = shown.cell;
      shown.open = true;
      card.removeAttribute("aria-hidden");
    }
  });
  document.addEventListener(
    "click",
    (event) => {
      const action = card.contains(event.target) && event.target.closest("[data-ga]");
      const cell = cellAt(event.target);
      const version = event.target.closest?.(".ga-readings button");
      if (version) choose(version.closest(".ga-multiples"), version.dataset.version);
      if (action) act(event, action.dataset.ga);
      else if (cell && event.shiftKey) {
        event.preventDefault();
        if (!held && before && before !== cell) hold(before);
        compare(cell, false);
      } else if (cell && cell === pinned) close();
      else if (cell) pin(cell, false);
      else if (pinned && !card.contains(event.target)) close();
    },
    true,
  );
  document.addEventListener("focusin", (event) => {
    const cell = cellAt(event.target);
    last = event.target;
    if (focused) clear(mapOf(focused), ["focus"]);
    // The browser gives a permalink's cell the focus: that alone shows no card.
    focused = keyed ? cell : null;
    quiet = null;
    if (cell) stop(mapOf(cell), cell);
    if (focused) {
      const { map, column, row } = place(focused);
      ring(map, "focus", column, row, 1, 1);
    }
    if (pinned && event.target !== pinned && !card.contains(event.target)) {
      pinned = null;
      state("cell", "");
    }
    later();
  });
  document.addEventListener("focusout", (event) => {
    if (event.relatedTarget || !focused) return;
    clear(mapOf(focused), ["focus"]);
    focused = null;
    later();
  });
  const moves = {
    ArrowLeft: (of) => [of.column - 1, of.row],
    ArrowRight: (of) => [of.column + 1, of.row],
    ArrowUp: (of) => [of.column, of.row - 1],
    ArrowDown: (of) => [of.column, of.row + 1],
    Home: (of, ctrl) => [0, ctrl ? 0 : of.row],
    End: (of, ctrl) => [of.map.nx - 1, ctrl ? of.map.ny - 1 : of.row],
  };
  document.addEventListener("keydown", (event) => {
    keyed = true;
    if (event.altKey || event.metaKey) return;
    if (event.key === "Escape" && shown) return close();
    if (event.key === "Escape" && held) return hold(null);
    const cell = cellAt(event.target);
    if (cell && event.key === "c" && !event.ctrlKey) return compare(cell, true);
    if (cell && moves[event.key] && !(event.ctrlKey && event.key.startsWith("Arrow"))) {
      event.preventDefault();
      const of = place(cell);
      const [column, row] = moves[event.key](of, event.ctrlKey);
      if (column < 0 || row < 0 || column >= of.map.nx || row >= of.map.ny) return;
      hovered = null;
      of.map.cells[row * of.map.nx + column].focus();
    } else if (cell && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      pin(cell, true);
    } else if (event.key === "Tab" && pinned && card.contains(event.target)) {
      // The card stands at the end of the page, and its place is after its cell.
      const ends = stops();
      if (event.shiftKey && [card, ends[0]].includes(event.target)) {
        event.preventDefault();
        close();
      } else if (!event.shiftKey && event.target === ends.at(-1)) {
        close();
      }
    }
  });
  window.addEventListener("resize", () => shown && lay(shown.cell, shown.open));
  window.addEventListener("hashchange", target);
  // The theme would load the page anew for a link within it, and the browser mark nothing.
  document.addEventListener(
    "click",
    (event) => {
      const link = event.target.closest?.("a[href*='#'], a.ga-row");
      if (!link || card.contains(link)) return;
      const to = new URL(link.getAttribute("href") ?? link.getAttribute("xlink:href"), document.baseURI);
      if (to.origin !== location.origin) return;
      const here = to.pathname === location.pathname && to.search === location.search;
      if (here && to.hash && document.querySelector(".ga-figure")) event.stopPropagation();
      if (here && to.hash && to.hash === location.hash) setTimeout(target); // it was folded again
    },
    true,
  );

  /**
   * After the first link within a page, the theme fetches the page again and puts its content in
   * anew: who uses the keyboard goes on from where they were, or from where the link led.
   */
  const goOn = () => {
    const same = path === location.pathname && keyed && last && !last.isConnected;
    path = location.pathname;
    if (!same) return;
    const id = last.id || fragment();
    // The theme goes to the link's place once more after this, which takes the focus away.
    setTimeout(() => {
      const place = id && document.getElementById(id);
      if (!place || document.activeElement !== document.body) return;
      if (!place.hasAttribute("tabindex") && place.tabIndex < 0) place.tabIndex = -1;
      place.focus({ preventScroll: true });
    });
  };

  /** A new page: by loading it, or by the theme's instant navigation. */
  const begin = async () => {
    goOn();
    // A page for frames that is opened by itself has a background of its own.
    document.body.classList.toggle("ga-alone", window.top === window.self);
    clearTimeout(timer);
    hovered = focused = quiet = pinned = shown = held = null;
    card.hidden = true;
    try {
      await prepare();
    } finally {
      restore();
      target();
    }
  };
  const FOLD = "details.ga-fold[id]";
  /** What the address says of the page's state. */
  const restore = async () => {
    const [cell, first, show, , open] = STATES.map(asked);
    for (const id of open.split(",")) {
      const fold = document.getElementById(id);
      if (fold?.matches(FOLD)) fold.open = true;
    }
    if (show) await versions(show);
    const cellOf = (id) =>
      id && heatmaps().filter((map) => !map.svg.closest("[hidden]")).flatMap((map) => map.cells)
        .find((one) => idOf(place(one)) === id);
    const found = cellOf(cell || new URLSearchParams(location.search).get("card"));
    if (!found) return;
    unfold(found);
    const other = cellOf(first);
    if (other) hold(other);
    pin(found, false);
  };
  // By a reader's click alone: what an address opens while pages are exchanged isn't theirs.
  document.addEventListener("click", ({ target }) => {
    if (!target.closest?.("summary")?.parentElement.matches(FOLD)) return;
    setTimeout(() => { // it opens after this
      // What the address leads into is open anyway.
      const to = document.getElementById(fragment());
      const open = [...document.querySelectorAll(`${FOLD}[open]`)].filter((one) => !one.contains(to));
      state("open", open.map((one) => one.id).join(","));
    });
  });
  Object.assign(window.gridAtlas, { state, asked });
  ready(begin);
})();

// --- copy: a button for each text below a heatmap --------------------------------------------
(() => {
  "use strict";
  const { make } = window.gridAtlas;
  const share = (inside) => inside.closest?.("details.ga-share");

  // On the document, which stays when a theme changes the page without loading it.
  document.addEventListener(
    "toggle",
    ({ target }) => {
      if (share(target) !== target || target.querySelector("button")) return;
      for (const text of target.querySelectorAll("pre")) {
        const name = text.previousElementSibling;
        const which = ` ${name.textContent}`;
        const button = make("button", name, "Copy", { type: "button" });
        make("span", button, which, { class: "ga-hidden" });
        name.append(" ");
        make("span", name, null, { role: "status" });
      }
    },
    true,
  );

  document.addEventListener("click", async ({ target }) => {
    const button = target.closest?.("details.ga-share button");
    if (!button) return;
    const text = button.parentElement.nextElementSibling;
    const said = button.parentElement.querySelector("[role=status]");
    said.textContent = "";
    try {
      await navigator.clipboard.writeText(text.textContent);
      said.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      said.textContent = "Selected: copy it with your keyboard or menu";
    }
  });
})();

// --- explore: an interactive chart of a grid, which is loaded when a reader asks for it ---
(() => {
  "use strict";
  const here = document.currentScript.src;
  // Not of blocks: the files behind them hold up to a million cells.
  const LINK = '.ga-downloads:not(.ga-blocks) a[href$=".vl.json"]';
  const open = new Map(); // panels by their buttons
  let failures = 0;

  const make = (name, attributes, ...content) => {
    const element = window.gridAtlas.make(name, null, null, attributes);
    element.append(...content);
    return element;
  };
  const small = (text, role) =>
    make("button", { type: "button", class: "ga-button", "data-ga-explore": role }, text);
  const gridOf = (link) => ({
    base: link.href.slice(0, -".vl.json".length),
    title: (link.querySelector(".ga-hidden")?.textContent ?? "").replace(/^ of /, ""),
  });

  // Runs on each page, also where the theme replaces the page without loading it anew.
  function setUp() {
    for (const [button, panel] of open) if (!panel.section.isConnected) close(button);
    const asked = new URLSearchParams(location.search).get("explore");
    for (const line of document.querySelectorAll(".ga-multiples > .ga-actions")) {
      if (!line.querySelector(LINK) || line.querySelector(".ga-explore-row")) continue;
      const button = small("Explore", "open");
      button.classList.add("ga-explore-row");
      button.setAttribute("aria-expanded", "false");
      line.append(button);
      const grids = [...line.querySelectorAll(LINK)].map(gridOf);
      const base = grids.find((grid) => named(grid.base) === asked)?.base;
      if (base) begin(button, grids.length > 1 ? base : undefined);
    }
    for (const link of document.querySelectorAll(`.ga-figure ${LINK}`)) {
      const line = link.closest(".ga-downloads");
      if (line.nextElementSibling?.matches(".ga-explore-open")) continue;
      const button = small("Explore", "open");
      button.append(make("span", { class: "ga-hidden" }, ` ${gridOf(link).title}`));
      button.setAttribute("aria-expanded", "false");
      line.after(make("p", { class: "ga-explore-open" }, button));
      if (asked && named(gridOf(link).base) === asked && !open.has(button)) begin(button);
    }
  }

  function close(button) {
    const { section, control } = open.get(button);
    open.delete(button);
    control.abort();
    section.remove();
    button.setAttribute("aria-expanded", "false");
    if (button.isConnected) address("");
  }

  /** Which grid is explored, in the page's address. */
  const named = (base) => base.replace(/.*\/grids\//, "");
  function address(base) {
    const url = new URL(location.href);
    if (base) url.searchParams.set("explore", named(base));
    else url.searchParams.delete("explore");
    const search = url.search.replaceAll("%2F", "/");
    history.replaceState(history.state, "", url.pathname + search + url.hash);
  }

  /** Which of a row's grids is explored: a choice above the chart. */
  function choice(button, grids, chosen) {
    const select = make("select", {});
    for (const { base, title } of grids) {
      select.append(make("option", { value: base, ...(base === chosen && { selected: "" }) }, title));
    }
    select.addEventListener("change", () => {
      const { control } = open.get(button);
      control.abort();
      begin(button, select.value);
    });
    return make("p", {}, make("label", {}, "Grid ", select));
  }

  async function begin(button, chosen) {
    const row = button.closest(".ga-multiples");
    const figure = row ? row.querySelector(".ga-panels") : button.closest(".ga-figure");
    const grids = [...(row ?? figure).querySelectorAll(LINK)].map(gridOf);
    const before = chosen ?? open.get(button)?.base;
    const { base, title } = grids.find((grid) => grid.base === before) ?? grids[0];
    const status = make("p", { role: "status" });
    const section = open.get(button)?.section ??
      make("section", { class: "ga-explore", tabindex: "-1", "aria-label": `Explore ${title}` });
    const control = new AbortController();
    open.set(button, { section, control, base });
    button.setAttribute("aria-expanded", "true");
    address(base);
    const away = make("p", { class: "ga-explore-close" }, small("Close", "close"));
    section.setAttribute("aria-label", `Explore ${title}`);
    section.replaceChildren(away, status);
    if (grids.length > 1) status.before(choice(button, grids, base));
    (row ? button.parentElement : figure).after(section);
    if (chosen) section.querySelector("select").focus();
    else section.focus();
    status.textContent = "Loading the chart …";
    const failed = (why, again = true) => {
      if (control.signal.aborted) return;
      failures += 1;
      const told = again && !navigator.onLine ? "There is no connection to the site." : why;
      status.textContent =
        `The chart can't be shown. ${told} The heatmap and its data table are whole without it.`;
      if (again) section.append(make("p", {}, small("Try again", "again")));
    };
    if (location.protocol === "file:") {
      failed("This page was opened from a folder, and there a browser doesn't let it read its " +
        "data. Explore works where the site is served.", false);
      return;
    }
    let module;
    try {
      // Browsers remember a module that failed by its address.
      const again = failures ? `?again=${failures}` : "";
      module = await import(new URL(`explore.js${again}`, here).href);
    } catch {
      failed("The program that draws it, explore.js, could not be loaded.");
      return;
    }
    try {
      await module.explore({
        base, title, panel: section, signal: control.signal, attempt: failures,
      });
      status.remove();
    } catch (error) {
      const known = error instanceof module.Unavailable;
      failed(known ? error.message : "It could not be drawn in this browser.", error.again ?? true);
    }
  }

  document.addEventListener("click", (event) => {
    const pressed = event.target.closest?.("[data-ga-explore]");
    if (!pressed) return;
    const section = pressed.closest(".ga-explore");
    const of = (button) => open.get(button).section === section;
    const button = section ? [...open.keys()].find(of) : pressed;
    if (pressed.dataset.gaExplore === "again" || !open.has(button)) {
      begin(button);
    } else {
      close(button);
      button.focus();
    }
  });
  document.addEventListener("keydown", (event) => {
    const section = event.key === "Escape" && event.target.closest?.(".ga-explore");
    if (!section) return;
    const hint = section.querySelector(".ga-explore-hint:not([hidden])");
    if (hint) hint.hidden = true;
    else section.querySelector('[data-ga-explore="close"]').click();
  });

  window.gridAtlas.ready(setUp);
})();

/* Material wraps tables in boxes that scroll sideways: where they do, they can be reached by key. */
(() => {
  "use strict";
  const SCROLLS = ".md-typeset__scrollwrap";
  const sizes = new ResizeObserver((seen) => {
    for (const box of new Set(seen.map(({ target }) => target.closest(SCROLLS)))) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  });
  const watch = () => {
    sizes.disconnect();
    for (const one of document.querySelectorAll(`${SCROLLS}, ${SCROLLS} table`)) sizes.observe(one);
  };
  // Emits for every page, also those that instant navigation puts in place; then they are wrapped.
  window.document$?.subscribe(() => setTimeout(watch));
})();

// --- tables that sort, and statements by their verdict -------------------------------------------
(() => {
  "use strict";
  const { make } = window.gridAtlas;

  /** The number that a text begins with, or the text. */
  const sortable = (text) => {
    const found = /^[^\d−-]{0,2}([−-]?[\d,]*\.?\d+)/.exec(text.trim());
    return found ? Number(found[1].replaceAll(",", "").replace("−", "-")) : text.trim();
  };
  const OTHER = { descending: "ascending", ascending: "descending" };
  function sort(head) {
    const table = head.closest("table");
    const [body] = table.tBodies;
    const now = head.getAttribute("aria-sort") || "none";
    const first = head.dataset.order || "descending";
    const order = now === "none" ? first : now === first ? OTHER[first] : "none";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    if (order !== "none") head.setAttribute("aria-sort", order);
    const value = (row) => sortable(row.cells[head.cellIndex].textContent);
    const rows = [...body.rows];
    rows.forEach((row, at) => (row.dataset.at ??= at));
    rows.sort((first, second) => {
      const given = first.dataset.at - second.dataset.at;
      if (order === "none") return given;
      const [a, b] = [value(first), value(second)];
      const numbers = [a, b].filter((one) => typeof one === "number").length;
      // What has no number comes last, in whichever order.
      if (numbers === 1) return typeof a === "number" ? -1 : 1;
      const by = numbers ? a - b : String(a).localeCompare(b, undefined, { numeric: true });
      return (order === "descending" ? -by : by) || given;
    });
    body.append(...rows);
    window.gridAtlas.state("sort", order === "none" ? "" : `${called(head)},${order}`);
  }
  const called = (head) => head.textContent.trim().toLowerCase().replace(/\W+/g, "-");
  /** Sort the table that the address asks for: `mean,descending`. */
  const sorted = (text) => {
    const [name, order] = text.split(",");
    const head = name && [...document.querySelectorAll("th:has(> .ga-sort)")].find((one) => called(one) === name);
    for (let turn = 0; head && turn < 2 && head.ariaSort !== order; turn += 1) sort(head);
  };

  const VERDICTS = ["Doesn't hold, and the contrary is shown", "Doesn't hold", "Wrong expression", "Can't be decided", "Holds"];
  function filter(claims) {
    const items = [...claims.querySelectorAll("li[data-verdict]")];
    const counts = new Map();
    for (const { dataset } of items) {
      counts.set(dataset.verdict, (counts.get(dataset.verdict) || 0) + 1);
    }
    if (counts.size < 2) return;
    const rank = (verdict) => (VERDICTS.indexOf(verdict) + 9) % 9;
    const line = make("p", claims, "Show: ", { class: "ga-filter", role: "group" });
    line.setAttribute("aria-label", "Statements by verdict");
    for (const verdict of ["", ...[...counts.keys()].sort((a, b) => rank(a) - rank(b))]) {
      const text = verdict ? `${verdict} (${counts.get(verdict)})` : `All (${items.length})`;
      const button = make("button", line, text, { type: "button", class: "ga-button" });
      button.setAttribute("aria-pressed", !verdict);
      button.dataset.verdict = verdict;
    }
    claims.prepend(line);
  }
  function show(button) {
    const claims = button.closest(".ga-claims");
    const { verdict } = button.dataset;
    for (const other of button.parentElement.querySelectorAll("button")) {
      other.setAttribute("aria-pressed", other === button);
    }
    for (const item of claims.querySelectorAll("li[data-verdict]")) {
      item.hidden = Boolean(verdict) && item.dataset.verdict !== verdict;
    }
    for (const fold of claims.querySelectorAll(".ga-rest")) {
      const any = fold.querySelector("li[data-verdict]:not([hidden])");
      fold.hidden = !any;
      if (verdict && any) fold.open = true;
    }
  }

  function setUp() {
    const tables = "table.ga-sortable, .md-typeset:has(.ga-figure) table:not([class])";
    for (const table of document.querySelectorAll(tables)) {
      const heads = [...(table.tHead?.rows ?? [])].at(-1)?.cells ?? [];
      if (table.closest(".ga-figure") || table.tBodies[0]?.rows.length < 3) continue;
      if (table.tHead?.querySelector(".ga-sort")) continue;
      for (const head of heads) {
        const button = make("button", head, "", { type: "button", class: "ga-sort" });
        button.append(...[...head.childNodes].filter((node) => node !== button));
      }
    }
    for (const claims of document.querySelectorAll(".ga-claims")) {
      if (!claims.querySelector(".ga-filter")) filter(claims);
    }
    sorted(window.gridAtlas.asked("sort"));
  }
  document.addEventListener("click", ({ target }) => {
    const head = target.closest?.(".ga-sort")?.closest("th");
    if (head) sort(head);
    const verdict = target.closest?.(".ga-filter button");
    if (verdict) show(verdict);
  });
  window.gridAtlas.ready(setUp);
})();

// --- the page for frames: its height, for the page around it ----------------------------------
(() => {
  "use strict";
  if (window.parent === window || !document.body?.classList.contains("ga-embed")) return;
  // To the page around it alone, whose origin isn't known: it framed this address, and the height is
  // no secret. The element is as high as its content, however high the frame is.
  const tell = () => {
    const { height } = document.documentElement.getBoundingClientRect();
    const address = location.href.split(/[?#]/)[0];
    window.parent.postMessage({ type: "gridatlas:height", address, height }, "*");
  };
  window.addEventListener("message", ({ data, source }) => {
    if (source === window.parent && data?.type === "gridatlas:ask") tell();
  });
  new ResizeObserver(tell).observe(document.documentElement);
})();
