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
# # A data frame becomes a study
#
# This page is a notebook, run when the website is built. Its table has the accuracy of nine small
# models that add two numbers: before GRPO, after it, and a control, with three training seeds each,
# over the numbers of digits. They answered greedily, and were measured by this project.

# %%
import tempfile
from pathlib import Path

import pandas as pd

import gridatlas

frame = pd.read_csv("data/digits-pass-1/ours.csv").query("temperature == 0")[
    ["setting", "seed", "x_digits", "y_digits", "value"]
]
frame.head()

# %% [markdown]
# ## One line
#
# `from_frame` takes a row per measurement. Roles that you leave out are proposed, with reasons.

# %%
study = gridatlas.from_frame(frame, title="Digits", unit="%", range=(0, 100), better="higher")
study

# %% [markdown]
# The seeds were recognised as repeats: each cell is the mean of three, with its standard error.

# %%
study.grid(setting="grpo")

# %% [markdown]
# ## What may be said
#
# The study is checked as on a website, and has an answer.

# %%
print(study.answer.headline)
study.frame()[["setting", "x_digits", "y_digits", "value", "stderr", "interval_low"]].head(3)

# %% [markdown]
# ## One axis
#
# A sweep over one number has no y. Here the second number has six digits.

# %%
sweep = gridatlas.from_frame(
    frame[frame["y_digits"] == 6],
    x="x_digits",
    y="",
    metric="value",
    facets="setting",
    repeats="seed",
    unit="%",
    range=(0, 100),
    better="higher",
    study="six-digits",
    title="Six digits",
)
print(sweep.grid(setting="before"))

# %% [markdown]
# ## Save it
#
# `save` writes the two files of a study. The next build of a website beside them makes its pages.

# %%
with tempfile.TemporaryDirectory() as folder:
    saved = study.save(Path(folder) / "digits")
    print(*sorted(path.name for path in saved.iterdir()))
    print((saved / "study.yml").read_text()[:760])
