// What a page looks like, measured in the browser; called by views.py.
() => {
  const number = (text, otherwise) => {
    const value = parseFloat(text);
    return Number.isNaN(value) ? otherwise : value;
  };
  // The four corners of an SVG element on the screen, turned as it is drawn.
  const corners = (element) => {
    const box = element.getBBox();
    const to = element.getScreenCTM();
    return [
      [box.x, box.y],
      [box.x + box.width, box.y],
      [box.x + box.width, box.y + box.height],
      [box.x, box.y + box.height],
    ].map(([x, y]) => [to.a * x + to.c * y + to.e, to.b * x + to.d * y + to.f]);
  };
  const rectangle = (element) => {
    const box = element.getBoundingClientRect();
    return [box.left, box.top, box.right, box.bottom];
  };
  // Of an element and all around it, what they let through.
  const known = new Map([[null, 1]]);
  const around = (element) => {
    if (!known.has(element)) {
      const own = number(getComputedStyle(element).opacity, 1);
      known.set(element, own * around(element.parentElement));
    }
    return known.get(element);
  };
  const opacity = (element, own) => own * around(element);
  const background = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!/^rgba\(.*, 0\)$/.test(colour) && colour !== "transparent") return colour;
    }
    return "rgb(255, 255, 255)";
  };
  // Numbers of cells, why a cell has none, means of levels that are asserted, and all around.
  const part = (element) => {
    if (element.closest(".values_marks, .bold_marks")) return "value";
    if (element.closest(".words_marks")) return "word";
    return element.closest(".asserted_marks") ? "asserted" : "frame";
  };
  const text = (element) => {
    const style = getComputedStyle(element);
    const to = element.getScreenCTM();
    return {
      text: element.textContent,
      part: part(element),
      corners: corners(element),
      size: number(style.fontSize, 0) * Math.hypot(to.a, to.b),
      colour: style.fill,
      opacity: opacity(element, number(style.fillOpacity, 1)),
    };
  };
  const cell = (element) => {
    const style = getComputedStyle(element);
    return {
      id: element.id,
      label: element.getAttribute("aria-label"),
      kind: element.closest(".cells_marks") ? "rect mark" : "point",
      box: rectangle(element),
      fill: style.fill,
      stroke: style.stroke,
      opacity: opacity(element, number(style.fillOpacity, 1)),
    };
  };
  const heatmap = (svg) => ({
    label: svg.getAttribute("aria-label"),
    grid: svg.closest("figure").id,
    thumbnail: svg.closest(".ga-thumbnails") !== null,
    box: rectangle(svg),
    background: background(svg),
    cells: [...svg.querySelectorAll(":is(.cells_marks, .absent_marks) > path")].map(cell),
    tabs: [...svg.querySelectorAll(".tab_marks > path")].map(cell),
    symbols: [...svg.querySelectorAll("g.role-legend-symbol path")].map((one) => ({
      fill: getComputedStyle(one).fill,
      stroke: getComputedStyle(one).stroke,
      opacity: opacity(one, 1),
    })),
    texts: [...svg.querySelectorAll("text")].filter((one) => one.textContent.trim()).map(text),
  });
  return {
    inner: window.innerWidth,
    width: document.documentElement.scrollWidth,
    clip: getComputedStyle(document.documentElement).overflowX,
    wide: [...document.querySelectorAll("article *")]
      .filter((one) => !one.closest(".ga-hidden"))
      .map((one) => [one, one.getBoundingClientRect()])
      .filter(([, box]) => box.width > 0 && (box.right > window.innerWidth + 0.5 || box.left < -0.5))
      .filter(([one]) => {
        // What can be scrolled by itself may be as wide as it likes.
        for (let around = one.parentElement; around; around = around.parentElement) {
          if (["auto", "scroll"].includes(getComputedStyle(around).overflowX)) return false;
        }
        return true;
      })
      .map(([one]) => `<${one.localName} class="${one.getAttribute("class") || ""}">`),
    ink: getComputedStyle(document.querySelector("article")).color,
    paper: background(document.querySelector("article")),
    heatmaps: [...document.querySelectorAll("figure.ga-figure > svg")].map(heatmap),
  };
};
