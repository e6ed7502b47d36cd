"""From a data folder to all pages and files of a site."""
