# %% [markdown]
# # Train the importance predictor
#
# DynTS ranks the tokens of a thought by how much attention the answer will pay them. A small
# perceptron says so from a token's last hidden state; no trained one is published. This script
# makes its labels from correct answers of the model and trains it. The model isn't changed.
#
# | | |
# |---|---|
# | predictor | hidden → 8192 → 2048 → 1, no biases, Softplus after every layer |
# | label | attention that the token receives from the answer: mean over layers, heads and the tokens after `</think>`, without what a token gives itself |
# | target | label · 10,000 (Llama), 10 · label^0.3 / 0.3 (Qwen) |
# | tokens | those of the thought |
# | loss | squared error, times 5 where 4 ≤ target < 5 |
# | training | AdamW at 5e-4, β 0.9 and 0.95, weight decay 0.01, cosine with 10 % warm-up, batches of 256 answers, 15 epochs |
#
# Which questions the published one was trained on is unknown. Take others than those of the
# benchmarks that it is measured on.

# %% [markdown]
# ## Run it
#
# Answers to questions of your own with the whole cache, then the predictor from the correct ones:
#
# ```sh
# python docs/reproduce/kv_sweep.py --model r1-qwen --benchmark train \
#   --data train.jsonl --scorer full --out runs/traces
# python docs/reproduce/train_predictor.py --model r1-qwen --run runs/traces \
#   --data train.jsonl
# ```
#
# Or from a file with a line per correct answer, `{"id", "question", "text"}`, in which the text is
# the thought, `</think>` and the answer:
#
# ```sh
# python docs/reproduce/train_predictor.py --model r1-qwen \
#   --traces traces.jsonl --out runs/predictor-r1-qwen
# ```

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

from dataclasses import asdict
from pathlib import Path

import click

from gridatlas.meter import ProgressReporter, report
from gridatlas_reproduce.kv.memory import enough_memory
from gridatlas_reproduce.kv.models import (
    WIDTHS,
    about_model,
    choose_model,
    ends_of,
    load_config,
    load_model,
    load_tokenizer,
    pinned,
)
from gridatlas_reproduce.kv.options import (
    dtype_option,
    model_option,
    model_revision_option,
    profile_option,
)
from gridatlas_reproduce.kv.predictor import (
    PredictorSize,
    Training,
    is_of_vllm,
    labels_of,
    save_predictor,
    traces_of_file,
    traces_of_run,
    traces_of_vllm,
    train,
)
from gridatlas_reproduce.kv.questions import read_jsonl
from gridatlas_reproduce.runner.devices import choose_device
from gridatlas_reproduce.runner.files import digest
from gridatlas_reproduce.runner.runs import environment, utc_now

# %% [markdown]
# ## Labels, then training
#
# Labels are kept in the folder's `work/`, a file per answer: a run that is stopped goes on there. They
# have the hidden states of all thoughts: 7,000 answers of 4,000 tokens take about 200 GB for R1-Qwen
# and 230 GB for R1-Llama, and each epoch reads all of it. `--dry-run` tells how much yours take.


# %% [markdown]
# ## The command line


# %%
@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@model_option
@model_revision_option
@click.option(
    "--run",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of a run of kv_sweep.py --scorer full; its correct answers are taken.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The questions of that run, or those that vLLM was asked.",
)
@click.option(
    "--traces",
    type=click.Path(path_type=Path, dir_okay=False),
    help='Correct answers, a JSON object per line: {"id", "question", "text", "choices"?}; or what '
    "vllm run-batch wrote, with --data.",
)
@profile_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the predictor. [default: runs/predictor-MODEL]",
)
@click.option(
    "--first",
    type=click.IntRange(min=1),
    default=8192,
    show_default=True,
    help="Width of the first layer.",
)
@click.option(
    "--second",
    type=click.IntRange(min=1),
    default=2048,
    show_default=True,
    help="Width of the second layer.",
)
@click.option("--epochs", type=click.IntRange(min=1), default=15, show_default=True)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    help="Answers per step; fewer where there are only some hundred.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N answers.")
@click.option("--seed", type=int, default=0, show_default=True)
@dtype_option
@click.option(
    "--device",
    default="cuda",
    show_default=True,
    metavar="NAME",
    help="cuda, cuda:1, …, cpu, or auto: a GPU where there is one.",
)
@click.option("--dry-run", is_flag=True, help="Print how much there is to train on, and stop.")
def main(
    model: str,
    model_revision: str | None,
    run: Path | None,
    data: Path | None,
    traces: Path | None,
    profile: str,
    out: Path | None,
    first: int,
    second: int,
    epochs: int,
    batch: int,
    limit: int | None,
    seed: int,
    dtype: str,
    device: str,
    dry_run: bool,
) -> None:
    """Train the predictor of the scorer importance on correct answers of a model.

    \b
    Examples:
      train_predictor.py --model r1-qwen --run runs/traces --data train.jsonl
      train_predictor.py --model r1-llama --traces traces.jsonl --dry-run
      train_predictor.py --model ./model --traces traces.jsonl --device cpu --dtype float32
    """
    if (run is None) == (traces is None):
        raise click.UsageError("give --run or --traces, one of the two")
    of_vllm = traces is not None and is_of_vllm(traces)
    if (run is not None or of_vllm) != (data is not None):
        raise click.UsageError(
            "--data belongs to --run, or to --traces with vLLM's answers: they are graded by it"
        )
    choice = pinned(choose_model(model, model_revision))
    about = about_model(choice)
    tokenizer = load_tokenizer(choice)
    if run is not None:
        found = traces_of_run(run, read_jsonl(data).questions, tokenizer, about)
    elif of_vllm:
        found = traces_of_vllm(traces, read_jsonl(data).questions, tokenizer, profile)
    else:
        found = traces_of_file(traces, tokenizer, profile)
    found = found[:limit]
    tokens = sum(len(question.answer) for question in found)
    size, how = PredictorSize(first, second), Training(epochs=epochs, batch=batch)
    disk = tokens * load_config(choice).hidden_size * WIDTHS[dtype] / 1e9
    report(
        f"{len(found):,} answers, {tokens:,} tokens: {how.steps(len(found)):,} steps, "
        f"{disk:,.1f} GB of disk for hidden states"
    )
    if dry_run:
        return
    folder = out or Path(f"runs/predictor-{choice.level}")
    where = choose_device(device)
    with enough_memory(f"{choice.source} and its predictor"):
        backbone = load_model(choice, where, dtype)
        report_step = ProgressReporter()
        labelled = labels_of(
            backbone,
            found,
            ends_of(backbone, tokenizer).thought,
            folder / "work" / digest([about, dtype])[:12],
            lambda done: report_step(
                f"labels: {done:,} of {len(found):,} answers", done == len(found)
            ),
        )
        family, hidden = backbone.config.model_type, backbone.config.hidden_size
        del backbone
        predictor = train(
            labelled,
            family,
            size,
            how,
            seed,
            where,
            lambda step, of, loss: report_step(
                f"training: {step:,} of {of:,} steps, loss {loss:.4f}", step == of
            ),
        )
    save_predictor(
        predictor,
        folder,
        size,
        {
            "model": about,
            "hidden": hidden,
            "training": asdict(how),
            "seed": seed,
            "dtype": dtype,
            "answers": len(labelled),
            "tokens": sum(len(trace.received) for trace in labelled),
            "made": utc_now(),
            **environment(),
        },
    )
    report(f"The predictor is in {folder}")
    report(f'To publish it: hf upload OWNER/NAME {folder} . --exclude "work/*"')


if __name__ == "__main__":
    main()
