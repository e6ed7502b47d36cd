# %% [markdown]
# # Decode latency and KV memory
#
# This script measures what a pruned KV cache gains over the full one. It answers two questions and
# never mixes them: latency at equal rows, and throughput at equal memory. Neither depends on the
# weights, so the models are random, in the shapes of the study's models.

# %% [markdown]
# ## Run it
#
# Install the extra `reproduce` first. The first command needs no GPU: it prints arms, memory, hours
# and the computed limits.
#
# ```sh
# python docs/reproduce/bench_kv.py --shape r1-qwen --dry-run
# python docs/reproduce/bench_kv.py --shape r1-qwen --out runs/bench-r1-qwen
# ```
#
# It takes an estimated 15 h 7 min for R1-Qwen and 18 h 35 min for R1-Llama on an H100. With
# `--rows 20`, it takes 6 h 16 min for R1-Qwen. The figures in `--dry-run` are for 80 GB.
#
# A try on a CPU, whose figures say nothing:
#
# ```sh
# python docs/reproduce/bench_kv.py --shape tiny --device cpu --dtype float32 \
#   --prompt 20 --new-tokens 100 --trigger 60 --local-window 20 --ratio 0.1 \
#   --rows 2 --repeats 2 --out runs/bench-try
# ```
#
# Each measurement is written to `bench.json` at once, and the same command resumes. `bench.csv` has
# a line per arm with all columns.
#
# ## How it measures
#
# - **Arms**: the full and the pruned cache, each with transformers' `DynamicCache` (`loop`) and with
#   our slots, at 1, 5, 20 and 64 rows. At equal memory, each cache gets as many rows as fit.
# - **Repeats**: five, after a warm-up through a prune. The arms take turns, every other time from the
#   last one.
# - **Bytes**: the KV cache as computed, and as its tensors measure.
# - **Lengths** are forced. Pruned models may write longer answers, which this doesn't measure.
#
# ## What can be reached
#
# A step reads the weights and all caches. On an H100 (3.35 TB/s) this limits the gain in latency.
# The table is **computed**, for a prompt of 220 tokens and 16,384 new ones. It shows the gain at
# window 500 and ratio 0.1, at 2,000 and 0.3, and at 3,000 and 0.5:
#
# | rows | R1-Qwen, cache read once | R1-Qwen, 17 times | R1-Llama, once | R1-Llama, 11 times |
# |---|---|---|---|---|
# | 5 | 1.11, 1.09, 1.08 | 1.98, 1.76, 1.65 | 1.22, 1.18, 1.17 | 2.14, 1.87, 1.74 |
# | 20 | 1.37, 1.31, 1.27 | 2.58, 2.15, 1.96 | 1.66, 1.53, 1.46 | 2.68, 2.21, 2.00 |
# | 64 | 1.84, 1.66, 1.57 | | 2.22, 1.92, 1.78 | |
#
# - **Latency 1.84–2.62×** (the paper): a path gives this at batch 20 if it moves the cache 11 or 17
#   times per step. `DynamicCache` with a mask does: it copies the cache, and repeats keys and values for
#   each head. A kernel that reads the cache once gives 1.3 to 1.7 there.
# - **Memory 3.32×** (the paper): it follows from the settings, (16,384 + 220) / 5,001. No GPU is
#   needed. 5.73× is 16,604 / 2,900, the cache just after a prune, not its peak.
# - **Throughput at equal memory**: 2.6× is the limit at 2,000 and 0.3, for both models. R-KV, another
#   method, measured 2.3×. Our goal is more than that.
# - At 64 rows, the full cache doesn't fit into 80 GB to its end: 60 rows of R1-Qwen do, and 26 of
#   R1-Llama.
#
# ## Figures
#
# **Not run on a GPU.** None was at hand so far. The second command above gives the figures. This one
# gives the tokens per second of both decoders:
#
# ```sh
# python docs/reproduce/bench_kv.py --shape r1-qwen --rows 5 --rows 20 \
#   --rows 64 --rows 100 --out runs/bench-rates
# ```

# %%
# /// script
# requires-python = ">=3.11"
# # uv takes it from this repository; other tools stop: on PyPI the name isn't ours.
# dependencies = ["gridatlas[reproduce] @ file:///this-repository"]
#
# [tool.uv.sources]
# gridatlas = { path = "../..", editable = true }
# ///

from pathlib import Path

import click

from gridatlas.meter import report
from gridatlas_reproduce.kv.bench import SHAPES, Bench
from gridatlas_reproduce.kv.bench_plan import plan_of
from gridatlas_reproduce.kv.bench_run import measure
from gridatlas_reproduce.kv.bench_tables import as_csv, compared, summary
from gridatlas_reproduce.kv.options import (
    attention_option,
    dtype_option,
    exact_ratios,
    protect_option,
    trigger_option,
)
from gridatlas_reproduce.kv.scorers import NAMES
from gridatlas_reproduce.runner.files import write_atomic

# %% [markdown]
# ## The command line


# %%
@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--shape", type=click.Choice(list(SHAPES)), required=True)
@click.option(
    "--scorer",
    type=click.Choice([name for name in NAMES if name != "full"]),
    default="importance",
    show_default=True,
)
@click.option(
    "--local-window",
    "windows",
    type=click.IntRange(min=0),
    multiple=True,
    default=(2000,),
    show_default=True,
)
@click.option(
    "--ratio",
    "ratios",
    multiple=True,
    callback=exact_ratios,
    default=("0.3",),
    show_default=True,
)
@trigger_option
@protect_option
@click.option(
    "--decoder",
    "decoders",
    type=click.Choice(["loop", "slots"]),
    multiple=True,
    default=("loop", "slots"),
    show_default=True,
    help="loop: transformers' DynamicCache. slots: ours.",
)
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    multiple=True,
    default=(1, 5, 20, 64),
    show_default=True,
    help="Samples decoded together, in the arms at equal rows.",
)
@click.option(
    "--cache-gib",
    type=click.FloatRange(min=0, min_open=True),
    help="For the arms at equal memory. [default: what the GPU has beside the weights]",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Of each arm, after a warm-up.",
)
@click.option(
    "--prompt",
    type=click.IntRange(min=1),
    default=220,
    show_default=True,
    help="Tokens of the prompt.",
)
@click.option("--new-tokens", type=click.IntRange(min=1), default=16_384, show_default=True)
@dtype_option
@attention_option
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--device",
    default="cuda",
    show_default=True,
    metavar="NAME",
    help="cuda, cuda:1, …; cpu only with --shape tiny.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs/bench"),
    show_default=True,
    help="Folder of the figures.",
)
@click.option("--dry-run", is_flag=True, help="Print steps and memory expected, and run nothing.")
def main(device: str, out: Path, dry_run: bool, cache_gib: float | None, **chosen: object) -> None:
    """Measure decode latency at equal rows, and throughput at equal memory.

    \b
    Examples:
      bench_kv.py --shape r1-llama --dry-run
      bench_kv.py --shape r1-qwen --rows 20 --out runs/bench-r1-qwen
      bench_kv.py --shape tiny --device cpu --prompt 20 --new-tokens 100 --trigger 60 --rows 2
    """
    bench = Bench(**chosen, cache_bytes=None if cache_gib is None else int(cache_gib * 2**30))
    try:
        bench.budgets()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if dry_run:
        for line in plan_of(bench):
            click.echo(line)
        return
    measured = measure(bench, out, device, lambda result: report(measured_line(result)))
    write_atomic(out / "bench.csv", as_csv(summary(measured)))
    for line in compared(measured):
        click.echo(line)


def measured_line(result: dict) -> str:
    """One measurement, as it is shown while the run goes on."""
    cache = (
        "the full cache"
        if result["ratio"] is None
        else f"window {result['local_window']}, ratio {result['ratio']}"
    )
    return (
        f"{result['decoder']}, {result['rows']} rows, {cache}, repeat {result['repeat'] + 1}: "
        f"{result['seconds']:.1f} s"
    )


if __name__ == "__main__":
    main()
