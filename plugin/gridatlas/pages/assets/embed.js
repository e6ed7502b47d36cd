/* Grid Atlas: for pages of others that frame heatmaps. A frame gets the height of its content, which
   changes as its tables open; without this script it keeps the height that its element says. */
(() => {
  "use strict";
  if (window.gridAtlasFrames) return; // one listener, however often the snippet stands in a page
  window.gridAtlasFrames = true;
  const OURS = 'iframe[src*="/grids/"]';
  const address = document.createElement("a"); // takes any text, where URL() throws
  const MOST = 20000; // pixels; no page for frames is as high

  window.addEventListener("message", ({ data, origin, source }) => {
    if (data?.type !== "gridatlas:height" || !(data.height > 0 && data.height <= MOST)) return;
    // Whoever has a reference to this window can send it messages: only the page that a frame was
    // made for, in that very frame, sets its height. A sandboxed page has the origin "null".
    for (const frame of document.querySelectorAll(OURS)) {
      if (frame.contentWindow !== source) continue;
      address.href = frame.src;
      if (address.origin === origin) frame.style.height = `${Math.ceil(data.height)}px`;
    }
  });

  // A page that was there before this script has said its height already. The question is no secret.
  const ask = () => {
    for (const frame of document.querySelectorAll(OURS)) {
      frame.contentWindow?.postMessage({ type: "gridatlas:ask" }, "*");
    }
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", ask);
  else ask();
})();
