# %% [markdown]
# # Pass@1 over local window and ratio
#
# A reasoning model answers each question of a benchmark several times, and keeps only part of its
# KV cache while it decodes. Each cell is the share of right answers at one local window and one
# ratio. Every cell of the study can be measured by itself.
#
# | level | on the hub |
# |---|---|
# | `--model r1-qwen` | `deepseek-ai/DeepSeek-R1-Distill-Qwen-7B` |
# | `--model r1-llama` | `deepseek-ai/DeepSeek-R1-Distill-Llama-8B` |
# | `--benchmark aime24` | `HuggingFaceH4/aime_2024`, 30 questions |
# | `--benchmark aime25` | `yentinglin/aime_2025`, 30 questions |
# | `--benchmark amc23` | `math-ai/amc23`, split `test`, 40 questions |
# | `--benchmark gpqa_d` | `Idavidrein/gpqa`, `gpqa_diamond`, 198 questions; gated |
#
# Other models of the families Llama and Qwen2 and other questions work, too: an id or a folder with
# `--model`, a JSONL file with `--data`.

# %% [markdown]
# ## Run it
#
# With Grid Atlas's extra `reproduce` installed. The first command needs no GPU:
#
# ```sh
# python docs/reproduce/kv_sweep.py --model r1-qwen --benchmark aime24 --dry-run
# python docs/reproduce/kv_sweep.py --model r1-qwen --benchmark aime24 \
#   --scorer streaming --ratio 0.1 --local-window 500 --limit 1
# ```
#
# The default scorer, `importance`, needs a predictor, and none is published.
# `train_predictor.py` trains it on the model's right answers to questions of
# your own:
#
# ```sh
# python docs/reproduce/kv_sweep.py --model r1-qwen --benchmark train \
#   --data train.jsonl --scorer full --out runs/traces
# python docs/reproduce/train_predictor.py --model r1-qwen --run runs/traces \
#   --data train.jsonl
# ```
#
# Then a cell, or all of them and the reading that they make:
#
# ```sh
# python docs/reproduce/kv_sweep.py --model r1-qwen --benchmark aime24 \
#   --ratio 0.1 --local-window 500
# python docs/reproduce/kv_sweep.py --model r1-qwen --benchmark aime24 \
#   --out runs/r1-qwen-aime24
# gridatlas collect runs/r1-qwen-aime24 --study dynts-window-ratio \
#   --reading ours
# ```
#
# A model in a folder, questions in a file, and one part of four of a job array:
#
# ```sh
# python docs/reproduce/kv_sweep.py --model r1-qwen=./model --benchmark aime24 \
#   --data questions.jsonl --scorer streaming
# python docs/reproduce/kv_sweep.py --model r1-qwen --benchmark aime24 \
#   --shard 1/4 --out runs/shared
# ```
#
# What a whole run takes, from the rate of its first 20 questions; they are part of the run:
#
# ```sh
# python docs/reproduce/kv_sweep.py --model r1-qwen --benchmark aime24 \
#   --out runs/r1-qwen-aime24 --measure 20 --price-per-hour 2.5
# ```
#
# Stop it at any moment and give the same command again: it goes on with what is missing. A
# predictor is for one model: for a copy in a folder it is trained on that. `streaming` and `random`
# need none.

# %% [markdown]
# ## What stays in the cache
#
# When the cache holds at least `--trigger` tokens after a step, its last W (`--local-window`) stay,
# and of the other L − W the k = int((L − W) · ratio) with the highest scores: the same in all layers
# and heads. Positions stay those of the text. All scorers have this budget.
#
# Tokens of the prompt, `</think>` and all after it have the score +∞. With `--protect-question tie`,
# as published, they compete for the k places, and the earlier token wins: at window 3000 and ratio
# 0.1, k is 200, and the end of a longer prompt is lost. With `always` the prompt stays beside the k.

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
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import get_args

import click

from gridatlas.meter import report
from gridatlas_reproduce.kv import vllm
from gridatlas_reproduce.kv.models import (
    ModelChoice,
    about_model,
    choose_model,
    load_config,
    pinned,
)
from gridatlas_reproduce.kv.options import (
    BatchOptions,
    batch_options,
    dtype_option,
    model_option,
    model_revision_option,
    profile_option,
)
from gridatlas_reproduce.kv.predictor import about_predictor, find_predictor
from gridatlas_reproduce.kv.questions import BENCHMARKS, Data, Question, load_benchmark, read_jsonl
from gridatlas_reproduce.kv.selection import NAMES, Protect, Sampling
from gridatlas_reproduce.kv.sweep import RATIOS, WINDOWS, Sweep, deviations_of, question_of
from gridatlas_reproduce.kv.vllm import VllmFactory, vllm_settings
from gridatlas_reproduce.kv.work import SweepFactory
from gridatlas_reproduce.runner.errors import WrongUsage
from gridatlas_reproduce.runner.files import write_atomic
from gridatlas_reproduce.runner.options import RunOptions, run_options
from gridatlas_reproduce.runner.runs import manifest

STUDY = "dynts-window-ratio"

# %% [markdown]
# ## What determines the results
#
# The model and the data are pinned: without `--model-revision` and `--data-revision` the commits
# that the hub has now are looked up, told, and written into the run's `run.json` with everything
# else. A run that is taken up again must find the same.


# %%
def questions_for(benchmark: str, data: Path | None, revision: str | None) -> Data:
    """The benchmark's questions, from a file or from the hub."""
    if data is None:
        return load_benchmark(benchmark, revision)
    if revision is not None:
        raise WrongUsage(
            f"--data-revision {revision} for the file {data}",
            "a revision only for a benchmark on the hub",
            "leave --data-revision out",
        )
    return read_jsonl(data)


def exact_ratios(
    context: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> tuple[Decimal, ...]:
    """Ratios as exact decimal numbers, without the zeros at their ends."""
    try:
        return tuple(Decimal(value).normalize() for value in values)
    except InvalidOperation as error:
        raise click.BadParameter("write it as 0.1") from error


def predictor_for(
    sweep: Sweep, choice: ModelChoice, about: dict, name: str | None, revision: str | None
) -> tuple[Path | None, dict]:
    """The folder of the scorer's predictor, and what the manifest says of it."""
    if sweep.scorer != "importance":
        return None, {}
    if revision and not name:
        raise click.UsageError("--predictor-revision needs --predictor OWNER/NAME")
    folder = find_predictor(name or f"runs/predictor-{choice.level}", revision)
    found = about_predictor(folder, about, load_config(choice).hidden_size)
    return folder, {"predictor": found["sha256"]}


def check_vllm(scorer: str, batch: BatchOptions) -> None:
    """Refuse what vLLM doesn't do."""
    if scorer != "full":
        raise click.UsageError(
            "--requests and --answers are for --scorer full: vLLM prunes nothing"
        )
    if batch.rows or batch.measure:
        raise click.UsageError(
            "--requests and --answers decode nothing here: leave --rows and --measure out"
        )


def write_requests(
    path: Path, choice: ModelChoice, asked: tuple[Question, ...], sweep: Sweep, seed: int
) -> None:
    """Write vLLM's requests, and print how it is to be called."""
    lines = vllm.requests(choice, asked, sweep, seed)
    write_atomic(path, "".join(f"{line}\n" for line in lines).encode())
    answers = path.with_name(f"{path.stem}-answers.jsonl")
    for line in vllm.command(choice, sweep, path, answers):
        click.echo(line)


def number_of_questions(benchmark: str, data: Path | None) -> int:
    """How many questions there are, without the hub."""
    if data is None and benchmark in BENCHMARKS:
        return BENCHMARKS[benchmark].number
    return len(questions_for(benchmark, data, None).questions)


# %% [markdown]
# ## The batch
#
# Samples of all questions and cells are decoded together, in as many rows as the GPU has memory for.
# Until its first prune a sample is the same in all cells: this beginning is decoded once. Rows that
# end are replaced, each row prunes at its own trigger, and nothing waits for the longest one.
#
# **What "reproducible" means here.** Every sample has random numbers of its own, the same in all
# cells. In one batch (rows, slots) on one machine its text doesn't depend on the other rows; a test
# holds that bit by bit on a CPU, and it isn't tested on a GPU. In another batch, or on another GPU,
# sums are rounded otherwise, and a text may differ from some token on. So rows, slots and the
# kernel are part of a run's settings: a run goes on in its own batch, and is refused in another.
#
# **What cells share.** They are paired exactly up to their first prune, and by the question
# afterwards: compare cells question by question. The beginnings are kept in the run's folder. A
# command that goes on with a run passes them through the model again and doesn't decode them; its
# records say `refilled`.
#
# **Kernels.** On CUDA, attention reads the slots with PyTorch's `varlen_attn` where a check at the
# start finds it right; elsewhere with SDPA. The log says which one is taken, and why. Neither was run
# on a GPU. On a CPU, tests compare both with full attention; there the kernel is replaced by its
# definition.


# %% [markdown]
# ## The command line


# %%
@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@model_option
@model_revision_option
@click.option(
    "--benchmark",
    required=True,
    help=f"{', '.join(BENCHMARKS)}, or with --data any name.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, dir_okay=False),
    help='Its questions, a JSON object per line: {"id", "question", "answer", "choices"?}.',
)
@click.option("--data-revision", metavar="COMMIT", help="On the hub; else its present one.")
@click.option(
    "--scorer",
    type=click.Choice(NAMES),
    default="importance",
    show_default=True,
    help="What tokens are ranked by; full keeps all.",
)
@click.option(
    "--predictor",
    help="Folder of the scorer importance's predictor. [default: runs/predictor-MODEL]",
)
@click.option(
    "--predictor-revision",
    metavar="COMMIT",
    help="Of a predictor on the hub; --predictor is then its id, OWNER/NAME.",
)
@click.option(
    "--local-window",
    "windows",
    type=click.IntRange(min=0),
    multiple=True,
    help=f"May be given several times. [default: {', '.join(map(str, WINDOWS))}]",
)
@click.option(
    "--ratio",
    "ratios",
    multiple=True,
    callback=exact_ratios,
    help=f"May be given several times. [default: {', '.join(map(str, RATIOS))}]",
)
@click.option(
    "--trigger",
    type=click.IntRange(min=1),
    default=5001,
    show_default=True,
    help="Tokens in the cache at which it is pruned.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Answers per question.",
)
@click.option(
    "--max-new-tokens",
    type=click.IntRange(min=1),
    default=16_384,
    show_default=True,
    help="Of one answer.",
)
@click.option(
    "--protect-question",
    "protect",
    type=click.Choice(get_args(Protect)),
    default="tie",
    show_default=True,
    help="Whether the prompt competes for the places that a prune leaves (tie, as published).",
)
@profile_option
@dtype_option
@click.option(
    "--requests",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --scorer full: write the requests for vLLM into this file, and stop.",
)
@click.option(
    "--answers",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --scorer full: take the answers that vLLM gave to them, and decode nothing.",
)
@batch_options
@run_options("runs/kv")
@click.pass_context
def main(
    context: click.Context,
    options: RunOptions,
    model: str,
    model_revision: str | None,
    benchmark: str,
    data: Path | None,
    data_revision: str | None,
    predictor: str | None,
    predictor_revision: str | None,
    requests: Path | None,
    answers: Path | None,
    max_new_tokens: int,
    batch: BatchOptions,
    **chosen: object,
) -> None:
    """Measure Pass@1 over local window and ratio, for one model and one benchmark.

    Without --out the run's folder is runs/kv/<id of the run>: other settings, another folder.

    \b
    Examples:
      kv_sweep.py --model r1-qwen --benchmark aime24 --dry-run
      kv_sweep.py --model r1-qwen --benchmark aime24 --ratio 0.1 --local-window 500
      kv_sweep.py --model r1-llama --benchmark gpqa_d --scorer random --out runs/random
      kv_sweep.py --model ./model --benchmark mine --data questions.jsonl --scorer full --limit 2
    """
    given = context.get_parameter_source
    if chosen["scorer"] == "full" and (chosen["windows"] or given("ratios").name != "DEFAULT"):
        raise click.UsageError("--scorer full keeps all: it has neither --local-window nor --ratio")
    if requests or answers:
        check_vllm(str(chosen["scorer"]), batch)
    choice = choose_model(model, model_revision)
    chosen["windows"] = chosen["windows"] or WINDOWS
    chosen["ratios"] = chosen["ratios"] or RATIOS
    sweep = Sweep(
        choice.level, benchmark, sampling=Sampling(max_new_tokens=max_new_tokens), **chosen
    )
    try:
        sweep.budgets()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if options.dry_run:
        number = number_of_questions(benchmark, data)
        number = min(number, options.limit or number)
        for line in batch.estimate(sweep, choice, number, options.out):
            click.echo(line)
        return
    questions = questions_for(benchmark, data, data_revision)
    choice = pinned(choice)
    about = about_model(choice)
    for what in (questions.about(), about):
        if what["revision"]:
            report(f"{what['id']} at {what['revision']}")
    asked = questions.questions[: options.limit]
    if requests is not None:
        write_requests(requests, choice, asked, sweep, options.seed)
        return
    folder_of_predictor, trained = predictor_for(
        sweep, choice, about, predictor, predictor_revision
    )
    if answers is None:
        sweep = batch.shaped(sweep, choice, asked, options)
        own = sweep.settings()
    else:
        sweep = replace(sweep, sampling=replace(sweep.sampling, order=vllm.ORDER))
        own = vllm_settings(sweep, answers)
    settings = own | options.settings() | trained
    units = sweep.units([question.id for question in asked])
    plan = manifest(
        STUDY,
        "kv_sweep",
        settings,
        units,
        seeds=options.seed,
        model=about,
        data=questions.about(),
        deviations=deviations_of(sweep),
    )
    if given("out").name == "DEFAULT":
        options = replace(options, out=options.out / plan.run)
    if answers is not None:
        vllm_factory = VllmFactory(answers.absolute(), asked, sweep.samples, options.seed)
        folder = options.run(plan, units, vllm_factory, key=question_of)
        report(f"The records are in {folder.folder}")
        return
    factory = SweepFactory(
        sweep,
        asked,
        options.seed,
        choice,
        about,
        folder_of_predictor,
        options.device,
        options.out.absolute(),
    )
    folder = batch.run(sweep, choice.shape, options, plan, units, factory)
    report(f"The records are in {folder.folder}")


if __name__ == "__main__":
    main()
