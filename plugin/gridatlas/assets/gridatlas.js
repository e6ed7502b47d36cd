/* Grid Atlas: what a reader can do with a drawn heatmap. The pages are whole without it. */
(() => {
  "use strict";
})();
