// Runs in each page before its own scripts, for all tools alike. It notes when all heatmaps of the
// page are drawn, its layout shifts and its largest contentful paint.
//
// A heatmap is drawn when its cells are in the page, each with a box that isn't empty: in an SVG,
// as many rectangles as it has cells; in a canvas, where cells are no elements, once it has a box
// and three colours of a 5 × 4 sample. This is looked at before every frame. Browsers tell when a
// frame with a text in it came to the screen, so a dot is put into the frame that has them all: its
// time is theirs, in milliseconds since navigation began.
((wanted) => {
  const CELLS = ".mark-rect.role-mark path";
  const found = { visible: null, shifts: 0, largest: null };
  Object.defineProperty(window, "__found", { value: found });

  const boxed = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  };

  const inSvg = (svg) => {
    const cells = svg.querySelectorAll(CELLS);
    return cells.length >= wanted.cells && [...cells].every(boxed);
  };

  const inCanvas = (canvas) => {
    if (!boxed(canvas) || canvas.width < 5 || canvas.height < 4) return false;
    const context = canvas.getContext("2d");
    const colours = new Set();
    for (let column = 0; column < 5; column++) {
      for (let row = 0; row < 4; row++) {
        const x = Math.floor(((column + 0.5) * canvas.width) / 5);
        const y = Math.floor(((row + 0.5) * canvas.height) / 4);
        const [r, g, b, a] = context.getImageData(x, y, 1, 1).data;
        if (a > 0) colours.add(`${r},${g},${b}`);
      }
    }
    return colours.size >= 3;
  };

  const drawn = () => {
    const canvases = [...document.querySelectorAll("canvas")];
    // Quickly told, so that looking takes no time from the page: they can't all be there yet.
    const cells = document.querySelectorAll(CELLS).length + canvases.length * wanted.cells;
    if (cells < wanted.heatmaps * wanted.cells) return false;
    const svgs = [...document.querySelectorAll("svg")].filter(inSvg);
    return svgs.length + canvases.filter(inCanvas).length >= wanted.heatmaps;
  };

  const look = () => {
    if (!document.body || !drawn()) return requestAnimationFrame(look);
    const dot = document.createElement("p");
    dot.textContent = ".";
    dot.setAttribute("elementtiming", "all heatmaps");
    dot.style.cssText = "position: fixed; z-index: 9; top: 0; left: 0; margin: 0; font-size: 8px";
    document.body.append(dot);
  };
  requestAnimationFrame(look);

  new PerformanceObserver((list) => {
    const dots = list.getEntries().filter((entry) => entry.identifier === "all heatmaps");
    if (dots.length) found.visible = dots[0].renderTime;
  }).observe({ type: "element", buffered: true });
  new PerformanceObserver((list) => {
    for (const shift of list.getEntries()) if (!shift.hadRecentInput) found.shifts += shift.value;
  }).observe({ type: "layout-shift", buffered: true });
  new PerformanceObserver((list) => {
    found.largest = list.getEntries().at(-1).startTime;
  }).observe({ type: "largest-contentful-paint", buffered: true });
})
