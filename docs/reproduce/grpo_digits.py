# %% [markdown]
# # Digits before and after GRPO
#
# A small decoder learns to add, until it answers one in ten problems right. From this start GRPO
# rewards its right answers on short numbers. A control gets the right answers to the same problems
# instead. Each cell of a grid is the accuracy on problems with so many digits of *x* and *y*.
#
# These are studies of our own **in the style of** the published digit grids. Their paper, operation,
# model and dashed region are unknown, so nothing here reproduces them.
#
# | | |
# |---|---|
# | task | `x + y` (or `x * y`), numbers from the last digit to the first, filled up with zeros |
# | model | a Llama decoder with random weights; a character is a token |
# | start | supervised, on problems of all cells, until 10 % of answers to GRPO's kind of problems, sampled at temperature 1.0, are right |
# | GRPO | with TRL; reward 1 for a right answer, else 0; problems up to `--region` digits |
# | rollout temperature | at which GRPO samples the answers that it rewards: a factor of the study |
# | control | as many supervised steps with the same problems at the same learning rate, one right answer each |
# | evaluation | problems held out from all training, the same for all models; `--temperature` is that of these answers, 0 being greedy decoding |
#
# ## What trains
#
# In the terms of TRL: `GRPOTrainer`; `loss_type="dapo"`, the loss of DAPO, which weighs all tokens
# of a batch alike; `scale_rewards="group"`, an advantage is the reward less the mean of its group,
# by the group's standard deviation; `beta=0.0`, no KL term and no reference model;
# `steps_per_generation=1`, each step has rollouts of its own, so the ratio of policies is 1 and
# clipping never acts; `num_generations=8` answers in a group, and 32 problems a step;
# `temperature`, which also divides the logits of the loss; `top_p=1.0`, `top_k=0`. Of DAPO there
# is neither dynamic sampling nor a higher clip, nor a penalty for long answers.
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
# 8 sampled answers solves. Its rollouts have temperature 1.0. `--study` names another of our
# designs, from which the other options take their defaults. This one, of 10 × 10 cells and about an
# hour, has two rollout temperatures:
#
# ```sh
# python docs/reproduce/grpo_digits.py --study digits-rollout-temperature --dry-run
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
# python docs/reproduce/grpo_digits.py --only setting=before --only temperature=0 --only seed=1 \
#   --only x_digits=1 --only y_digits=2
# ```
#
# ## A pretrained model
#
# On a GPU, the same study can train a model that others trained: `--pretrained` names one of the
# families Qwen2 and Llama, on the hub or in a folder. It reads `12+345=` and writes `357` and a line
# end. vLLM samples the rollouts in the memory beside the training (`use_vllm`,
# `vllm_mode="colocate"`), which is in bfloat16 with weights in single precision. There is no
# supervised start, and the learning rate is 1e-6. `--dry-run` prints memory and hours:
#
# ```sh
# pip install "trl[vllm]"
# python docs/reproduce/grpo_digits.py --study digits-rollout-temperature \
#   --pretrained Qwen/Qwen2.5-0.5B --dry-run
# ```
#
# It takes 36 GiB and under three hours on one H100, by the assumptions that it prints. **This was
# never run here**: tests train a tiny random model on a CPU, without vLLM.
#
# ## Stop and go on
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

from gridatlas_reproduce.digits.pretrained import RATE
from gridatlas_reproduce.digits.study import (
    STUDIES,
    DigitsFactory,
    DigitsStudy,
    expected,
    model_of,
)
from gridatlas_reproduce.kv.models import about_model, choose_model, pinned
from gridatlas_reproduce.runner.options import RunOptions, run_options
from gridatlas_reproduce.runner.runs import manifest

SCRIPT = "grpo_digits"

# %% [markdown]
# ## What determines the results
#
# All of it is written into the run's `run.json` before the first step. The seeds of answers don't
# depend on the cell or the model, so all models meet the same problems and the same random
# numbers.


# %%
def study_of(options: RunOptions, study: str, **chosen: object) -> DigitsStudy:
    """The study that the options describe: a design, and what of it is given otherwise."""
    design = STUDIES[study]
    given = {name: value for name, value in chosen.items() if value is not None and value != ()}
    if "pretrained" in given:
        given["pretrained"] = choose_model(given["pretrained"])
        given.setdefault("rate", RATE)
    if "seeds" in given:
        given["seeds"] = tuple(range(1, given["seeds"] + 1))
    for name in ("rollouts", "temperatures"):
        if name in given:
            given[name] = tuple(dict.fromkeys(Decimal(str(value)) for value in given[name]))
    for part, names in {
        "supervised": {"supervised_steps": "steps", "until": "until"},
        "grpo": {"grpo_steps": "max_steps", "rate": "learning_rate"},
    }.items():
        own = {names[name]: given.pop(name) for name in names if name in given}
        given[part] = replace(getattr(design, part), **own)
    design = replace(design, base=options.seed, **given)
    return replace(design, items=min(design.items, options.limit or design.items))


# %% [markdown]
# ## The command line


# %%
@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--study",
    type=click.Choice(list(STUDIES)),
    default=next(iter(STUDIES)),
    show_default=True,
    help="The design that the other options take their defaults from.",
)
@click.option(
    "--digits",
    type=click.IntRange(1, 20),
    help="Largest number of digits; the grid has digits × digits cells.",
)
@click.option(
    "--region", type=click.IntRange(1, 20), help="Largest number of digits in GRPO's problems."
)
@click.option("--seeds", type=click.IntRange(min=1), help="Number of training seeds.")
@click.option("--operation", type=click.Choice(["+", "*"]), help="What is done with x and y.")
@click.option("--items", type=click.IntRange(min=1), help="Problems per cell.")
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    help="Answers to each problem where they are sampled; greedily there is one.",
)
@click.option(
    "--temperature",
    "temperatures",
    type=click.FloatRange(0, 10),
    multiple=True,
    help="At which all models answer; 0 is greedy decoding. May be given several times.",
)
@click.option(
    "--until",
    type=click.FloatRange(0, 1, min_open=True),
    help="Share of right answers that ends the training of the start.",
)
@click.option(
    "--supervised-steps", type=click.IntRange(min=10), help="Steps of the start, at most."
)
@click.option("--grpo-steps", type=click.IntRange(min=1), help="Steps of GRPO, and of its control.")
@click.option(
    "--rate",
    type=click.FloatRange(0, 1, min_open=True),
    help="Learning rate of GRPO, and of its control.",
)
@click.option(
    "--rollout-temperature",
    "rollouts",
    type=click.FloatRange(0.01, 10),
    multiple=True,
    help="At which GRPO samples its rollouts. May be given several times: a model each.",
)
@click.option(
    "--pretrained",
    metavar="MODEL",
    help="Train this model on, in place of one from nothing: an id on the hub, or a folder.",
)
@run_options("runs/digits", device="auto")
def main(options: RunOptions, study: str, **chosen: object) -> None:
    """Train small models on arithmetic, with GRPO and without, and grade them cell by cell.

    \b
    Examples:
      grpo_digits.py --dry-run             what the whole study takes
      grpo_digits.py --out runs/digits     the study; again: goes on where it stopped
      grpo_digits.py --digits 2 --region 2 --seeds 1 --limit 20 --out runs/try
    """
    design = study_of(options, study, **chosen)
    if design.region > design.digits:
        raise click.UsageError(f"--region {design.region} is larger than --digits {design.digits}")
    for temperature in design.temperatures:
        if 0 < temperature < Decimal("0.01"):
            raise click.UsageError(f"--temperature {temperature:f} is neither 0 nor at least 0.01")
    units = design.units()
    if options.dry_run:
        for line in expected(design, options.chosen(units)):
            click.echo(line)
        return
    model = None
    if design.pretrained:
        design = replace(design, pretrained=pinned(design.pretrained))
        model = about_model(design.pretrained)
    about = manifest(
        study,
        SCRIPT,
        # A whole study's settings say nothing of a limit.
        design.settings() | (options.settings() if options.limit else {}),
        units,
        seeds={"training": list(design.seeds), "answers": design.base},
        model=model,
    )
    factory = DigitsFactory(design, options.out.absolute() / "work", options.device)
    options.run(about, units, factory, key=model_of)


if __name__ == "__main__":
    main()
