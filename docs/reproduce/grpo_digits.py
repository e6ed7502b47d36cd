# %% [markdown]
# # Digits before and after GRPO
#
# A small decoder learns to add, until it answers one in ten problems right. From this start GRPO
# rewards its right answers on short numbers. A control gets the right answers to the same problems
# instead. Each cell of a grid is the accuracy on problems with so many digits of *x* and *y*.
#
# This is a study of our own **in the style of** the published digit grids. Their paper, operation,
# model and dashed region are unknown, so nothing here reproduces them.
#
# | | |
# |---|---|
# | task | `x + y` (or `x * y`), numbers from the last digit to the first, filled up with zeros |
# | model | a Llama decoder with random weights; a character is a token |
# | start | supervised, on problems of all cells, until 10 % of sampled answers to GRPO's kind of problems are right |
# | GRPO | with TRL; reward 1 for a right answer, else 0; problems up to `--region` digits |
# | control | as many supervised steps with the same problems at the same learning rate, one right answer each |
# | evaluation | problems held out from all training, the same for all models: greedily, and 8 samples each at temperatures 0.6 and 1.0 |
#
# ## Run it
#
# With Grid Atlas's extra `reproduce` installed, on a CPU (ten minutes on one core) or a GPU:
#
# ```sh
# python docs/reproduce/grpo_digits.py --dry-run
# python docs/reproduce/grpo_digits.py --out runs/digits
# gridatlas collect runs/digits --study digits-pass-1 --reading ours
# gridatlas collect runs/digits --study digits-pass-8 --reading ours --pass-at 8
# ```
#
# The run answers both studies: the share of right answers, and the share of problems that one of
# 8 sampled answers solves.
#
# A try in less than a minute, and one part of three of a job array:
#
# ```sh
# python docs/reproduce/grpo_digits.py --digits 2 --region 2 --seeds 1 --limit 20 \
#   --supervised-steps 20 --grpo-steps 4 --out runs/digits-try
# python docs/reproduce/grpo_digits.py --shard 1/3 --out runs/digits
# ```
#
# One cell alone, as its card has it, trains its model first if the run has none yet:
#
# ```sh
# python docs/reproduce/grpo_digits.py --only setting=before --only temperature=0 --only seed=1 \
#   --only x_digits=1 --only y_digits=2
# ```
#
# Stop it at any moment and give the same command again: it goes on with what is missing. The same
# seed gives the same models only on the same kind of machine with the same versions and number of
# threads (`OMP_NUM_THREADS=1` for ours).

# %%
# /// script
# requires-python = ">=3.11"
# # uv takes it from this repository; other tools stop: on PyPI the name isn't ours.
# dependencies = ["gridatlas[reproduce] @ file:///this-repository"]
#
# [tool.uv]
# # The versions of requirements.lock, with which the tests run; the .lock file has all others.
# constraint-dependencies = [
#   "accelerate==1.15.0",
#   "datasets==5.2.0",
#   "httpx==0.28.1",
#   "math-verify==0.9.0",
#   "numpy==2.4.6",
#   "ray==2.60.0",
#   "tokenizers==0.22.2",
#   "torch==2.13.0",
#   "transformers==5.2.0",
#   "trl==1.16.0",
# ]
#
# [tool.uv.sources]
# gridatlas = { path = "../..", editable = true }
# ///

from dataclasses import replace
from decimal import Decimal

import click

from gridatlas_reproduce.digits.grpo import Grpo
from gridatlas_reproduce.digits.study import (
    DigitsFactory,
    DigitsStudy,
    expected,
    model_of,
)
from gridatlas_reproduce.digits.supervised import Supervised
from gridatlas_reproduce.runner.options import RunOptions, run_options
from gridatlas_reproduce.runner.runs import manifest

SCRIPT = "grpo_digits"
STUDY = "digits-pass-1"

# %% [markdown]
# ## What determines the results
#
# All of it is written into the run's `run.json` before the first step. The seeds of answers don't
# depend on the cell or the model, so all models meet the same problems and the same random
# numbers.


# %%
def study_of(options: RunOptions, **chosen: object) -> DigitsStudy:
    """The study that the options describe."""
    study = DigitsStudy(
        digits=chosen["digits"],
        region=chosen["region"],
        seeds=tuple(range(1, chosen["seeds"] + 1)),
        operation=chosen["operation"],
        items=chosen["items"],
        samples=chosen["samples"],
        temperatures=tuple(
            dict.fromkeys(Decimal(str(temperature)) for temperature in chosen["temperature"])
        ),
        base=options.seed,
        supervised=Supervised(steps=chosen["supervised_steps"], until=chosen["until"]),
        grpo=Grpo(
            max_steps=chosen["grpo_steps"],
            learning_rate=chosen["rate"],
            temperature=chosen["rollout_temperature"],
        ),
    )
    if options.limit:
        study = replace(study, items=min(study.items, options.limit))
    return study


# %% [markdown]
# ## The command line


# %%
@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--digits",
    type=click.IntRange(1, 20),
    default=6,
    show_default=True,
    help="Largest number of digits; the grid has digits × digits cells.",
)
@click.option(
    "--region",
    type=click.IntRange(1, 20),
    default=4,
    show_default=True,
    help="Largest number of digits in GRPO's problems.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Number of training seeds.",
)
@click.option("--operation", type=click.Choice(["+", "*"]), default="+", show_default=True)
@click.option(
    "--items",
    type=click.IntRange(min=1),
    default=DigitsStudy().items,
    show_default=True,
    help="Problems per cell.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=DigitsStudy().samples,
    show_default=True,
    help="Answers to each problem where they are sampled; greedily there is one.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0, 10),
    multiple=True,
    default=tuple(map(float, DigitsStudy().temperatures)),
    show_default=True,
    help="At which all models answer; 0 is greedy decoding. May be given several times.",
)
@click.option(
    "--until",
    type=click.FloatRange(0, 1, min_open=True),
    default=Supervised().until,
    show_default=True,
    help="Share of right answers that ends the training of the start.",
)
@click.option(
    "--supervised-steps",
    type=click.IntRange(min=10),
    default=Supervised().steps,
    show_default=True,
    help="Steps of the start, at most.",
)
@click.option(
    "--grpo-steps",
    type=click.IntRange(min=1),
    default=Grpo().max_steps,
    show_default=True,
    help="Steps of GRPO, and of its control.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0, 1, min_open=True),
    default=Grpo().learning_rate,
    show_default=True,
    help="Learning rate of GRPO, and of its control.",
)
@click.option(
    "--rollout-temperature",
    type=click.FloatRange(0.01, 10),
    default=Grpo().temperature,
    show_default=True,
    help="Of GRPO's rollouts.",
)
@run_options("runs/digits", device="auto")
def main(options: RunOptions, **chosen: object) -> None:
    """Train small models on arithmetic, with GRPO and without, and grade them cell by cell.

    \b
    Examples:
      grpo_digits.py --dry-run             what the whole study takes
      grpo_digits.py --out runs/digits     the study; again: goes on where it stopped
      grpo_digits.py --digits 2 --region 2 --seeds 1 --limit 20 --out runs/try
    """
    study = study_of(options, **chosen)
    if study.region > study.digits:
        raise click.UsageError(f"--region {study.region} is larger than --digits {study.digits}")
    for temperature in study.temperatures:
        if 0 < temperature < Decimal("0.01"):
            raise click.UsageError(f"--temperature {temperature:f} is neither 0 nor at least 0.01")
    units = study.units()
    if options.dry_run:
        chosen_units = options.chosen(units)
        click.echo(f"{len(chosen_units)} units")
        for what, number in expected(study, chosen_units).items():
            click.echo(f"{number:>10,} {what}")
        return
    about = manifest(
        STUDY,
        SCRIPT,
        # A whole study's settings say nothing of a limit.
        study.settings() | (options.settings() if options.limit else {}),
        units,
        seeds={"training": list(study.seeds), "answers": study.base},
    )
    factory = DigitsFactory(study, options.out.absolute() / "work", options.device)
    options.run(about, units, factory, key=model_of)


if __name__ == "__main__":
    main()
