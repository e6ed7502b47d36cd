// A page at a former address: the part behind "#" names a cell and goes along, its levels by their
// new names.
const former = Object.fromEntries(
  (document.currentScript?.dataset.former ?? "").split(" ").map((pair) => pair.split("=")),
);
const link = document.querySelector("a[href]");
if (link && location.hash) {
  const hash = location.hash.replace(/[^#/,]+/g, (name) =>
    Object.hasOwn(former, name) && former[name] ? former[name] : name,
  );
  location.replace(link.href + hash);
}
