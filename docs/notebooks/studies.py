# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A notebook on the results
#
# This page is a notebook, run when the website is built: what stands below its code is what the
# code gave, on the data of this website. It is `docs/notebooks/studies.py`; run it in the
# repository's folder, in an editor that knows cells or in Jupyter with jupytext.
# The page In Python and Jupyter explains what it does.

# %%
from io import StringIO

import altair as alt
from IPython.display import HTML

import gridatlas

studies = gridatlas.load("data", cache=".cache/gridatlas")
studies

# %% [markdown]
# ## A study
#
# A study shows what is in it: its grids with their best cells, its readings, and what was noted.

# %%
study = studies["dynts-window-ratio"]
study

# %% [markdown]
# ## A grid
#
# A grid shows as its heatmap: the same drawing as on the website, as SVG within the page. Nothing
# is loaded from another host, and no script runs.

# %%
grid = study.grid(model="r1-qwen", benchmark="aime24")
grid

# %% [markdown]
# Printed, it is a table.

# %%
print(grid)

# %% [markdown]
# ## pandas
#
# `frame()` gives tidy rows: one per cell, also of cells without a value, with the 95 % interval
# where the number of trials is known. Levels that are numbers are numbers.

# %%
frame = study.frame()
frame[
    ["model", "benchmark", "ratio", "local_window", "value", "interval_low", "interval_high"]
].head()

# %% [markdown]
# Which ratio has the highest mean, on each benchmark?

# %%
means = frame.pivot_table(index="benchmark", columns="ratio", values="value", sort=False)
means.round(1)

# %% [markdown]
# ## Altair
#
# `chart()` gives the heatmap as an Altair chart, with the same names as `frame()`, to go on with.
# Here the values are layered on it. By itself Altair loads Vega from another host to show a chart;
# saved as SVG, it is in the page, with a text for each cell.

# %%
heatmap = grid.chart()
dark = alt.datum.value > 46
values = heatmap.mark_text().encode(
    text=alt.Text("value:Q", format=".1f"),
    color=alt.condition(dark, alt.value("white"), alt.value("black")),
)
drawing = StringIO()
(heatmap + values).properties(width=320, height=200).save(drawing, format="svg")
HTML(drawing.getvalue())

# %% [markdown]
# ## Names that aren't there
#
# A name that isn't there is refused with the nearest one.

# %%
try:
    study.grid(model="r1-qwn", benchmark="aime24")
except gridatlas.UnknownName as error:
    print(error)
