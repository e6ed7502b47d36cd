# %% [markdown]
# # Digits before and after GRPO
#
# A small decoder learns to add from partly wrong examples; then GRPO rewards its right answers on
# short numbers. Each cell of a grid is the accuracy on problems with so many digits of *x* and *y*,
# before GRPO and after it at each rollout temperature.
#
# This is a study of our own **in the style of** the published digit grids. Their paper, operation,
# model and dashed region are unknown, so nothing here reproduces them.
#
# | | |
# |---|---|
# | task | `x + y` (or `x * y`), numbers from the last digit to the first, filled up with zeros |
# | model | a Llama decoder with random weights; a character is a token |
# | supervised start | right and wrong answers, mixed: `--wrong` is the share of the wrong ones |
# | GRPO | with TRL; reward 1 for a right answer, else 0; problems up to `--region` digits |
# | evaluation | problems held out from all training, the same for all models, at one temperature: 0.6, or 0 for greedy decoding |
#
# ## Run it
#
# With Grid Atlas's extra `reproduce` installed, on a CPU (about half an hour on one core) or a GPU:
#
# ```sh
# python docs/reproduce/grpo_digits.py --dry-run
# python docs/reproduce/grpo_digits.py --out runs/digits
# gridatlas collect runs/digits --study digits-grpo-ours --reading ours
# ```
#
# Whether GRPO seems to help depends on the temperature of the evaluation. A second study,
# `digits-grpo-ours-greedy`, therefore reads the same models greedily. It trains nothing again, and
# takes seconds:
#
# ```sh
# python docs/reproduce/grpo_digits.py --evaluation-temperature 0 --models runs/digits --out runs/digits-greedy
# gridatlas collect runs/digits-greedy --study digits-grpo-ours-greedy --reading ours
# ```
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
# python docs/reproduce/grpo_digits.py --only setting=before --only seed=1 --only x_digits=1 --only y_digits=2
# ```
#
# Stop it at any moment and give the same command again: it goes on with what is missing.

# %%
# /// script
# requires-python = ">=3.11"
# # uv takes it from this repository; other tools stop: on PyPI the name isn't ours.
# dependencies = ["gridatlas[reproduce] @ file:///this-repository"]
#
# [tool.uv.sources]
# gridatlas = { path = "../..", editable = true }
# ///

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import click

from gridatlas.reproduce.digits.grpo import Grpo
from gridatlas.reproduce.digits.study import (
    DigitsFactory,
    DigitsStudy,
    expected,
    model_of,
)
from gridatlas.reproduce.digits.supervised import Supervised
from gridatlas.reproduce.digits.trained import models_of_run
from gridatlas.reproduce.runner.options import RunOptions, run_options
from gridatlas.reproduce.runner.runs import manifest

SCRIPT = "grpo_digits"
STUDY = "digits-grpo-ours"
GREEDY = f"{STUDY}-greedy"

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
        temperatures=tuple(
            dict.fromkeys(Decimal(str(temperature)) for temperature in chosen["temperature"])
        ),
        seeds=tuple(range(1, chosen["seeds"] + 1)),
        operation=chosen["operation"],
        n=chosen["n"],
        temperature=Decimal(f"{chosen['evaluation_temperature']:g}"),
        base=options.seed,
        supervised=Supervised(steps=chosen["supervised_steps"], wrong=chosen["wrong"]),
        grpo=Grpo(max_steps=chosen["grpo_steps"]),
    )
    if options.limit:
        study = replace(study, n=min(study.n, options.limit), items=min(study.items, options.limit))
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
    "--temperature",
    type=click.FloatRange(0.01, 10),
    multiple=True,
    default=(1.0, 1.25),
    show_default=True,
    help="Of GRPO's rollouts; may be given several times.",
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
    "--n",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Graded answers per cell and model. Greedily a problem has one, so at most "
    f"{DigitsStudy().items}.",
)
@click.option(
    "--evaluation-temperature",
    type=click.FloatRange(0, 10),
    default=float(DigitsStudy().temperature),
    show_default=True,
    help="At which all models answer; 0 is greedy decoding.",
)
@click.option(
    "--models",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="RUN",
    help="Ask the models of this run's folder, instead of training them again.",
)
@click.option(
    "--wrong",
    type=click.FloatRange(0, 1),
    default=Supervised().wrong,
    show_default=True,
    help="Share of wrong answers in the supervised start.",
)
@click.option(
    "--supervised-steps", type=click.IntRange(min=10), default=Supervised().steps, show_default=True
)
@click.option(
    "--grpo-steps", type=click.IntRange(min=1), default=Grpo().max_steps, show_default=True
)
@run_options("runs/digits", device="auto")
def main(options: RunOptions, models: Path | None, **chosen: object) -> None:
    """Train small models on arithmetic, before and after GRPO, and grade them cell by cell.

    \b
    Examples:
      grpo_digits.py --dry-run             what the whole study takes
      grpo_digits.py --out runs/digits     the study; again: goes on where it stopped
      grpo_digits.py --evaluation-temperature 0 --models runs/digits --out runs/greedy
      grpo_digits.py --digits 2 --region 2 --seeds 1 --limit 20 --out runs/try
    """
    study = study_of(options, **chosen)
    if study.region > study.digits:
        raise click.UsageError(f"--region {study.region} is larger than --digits {study.digits}")
    for temperature in study.temperatures:
        if temperature * 100 % 1:
            raise click.UsageError(f"--temperature {temperature} has more than two decimals")
    if 0 < study.temperature < Decimal("0.01"):
        raise click.UsageError(
            f"--evaluation-temperature {study.temperature:f} is neither 0 nor at least 0.01"
        )
    units = study.units()
    if options.dry_run:
        chosen_units = options.chosen(units)
        most = "at most " if study.greedy else ""
        click.echo(f"{len(chosen_units)} units of {most}{study.n} answers")
        for what, number in expected(study, chosen_units, trains=models is None).items():
            click.echo(f"{number:>10,} {what}")
        return
    work = (
        options.out.absolute() / "work" if models is None else models_of_run(models, study, SCRIPT)
    )
    about = manifest(
        GREEDY if study.greedy else STUDY,
        SCRIPT,
        # A whole study's settings say nothing of a limit.
        study.settings() | (options.settings() if options.limit else {}),
        units,
        seeds={"training": list(study.seeds), "answers": study.base},
    )
    factory = DigitsFactory(study, work, options.device, trains=models is None)
    options.run(about, units, factory, key=model_of)


if __name__ == "__main__":
    main()
