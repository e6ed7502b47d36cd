// A page at a former address: the part behind "#" names a cell and goes along.
const link = document.querySelector("a[href]");
if (link && location.hash) {
  location.replace(link.href + location.hash);
}
