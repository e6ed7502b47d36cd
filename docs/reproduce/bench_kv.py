# %% [markdown]
# # Decode latency
#
# This script measures how long a step of decoding takes, with pruned caches and with the full one.
# That doesn't depend on the weights, so the models are random, in the shapes of the study's models.

# %% [markdown]
# ## Run it
#
# Install the extra `reproduce` first. The first command needs no GPU: it prints points, minutes and
# the computed limits.
#
# ```sh
# python docs/reproduce/bench_kv.py --shape r1-qwen --quick --dry-run
# python docs/reproduce/bench_kv.py --shape r1-qwen --quick --out runs/bench-r1-qwen
# python docs/reproduce/kv_sweep.py --model r1-qwen --benchmark aime24 --dry-run
# ```
#
# `--quick` takes less than half an hour on one GPU, in pieces of nine minutes: give the command
# again until no point is missing. It needs no network. With the bench's folder, `kv_sweep.py
# --dry-run --bench runs/bench-r1-qwen` takes its hours from it.
#
# A try on a CPU, whose figures say nothing:
#
# ```sh
# python docs/reproduce/bench_kv.py --shape tiny --device cpu --dtype float32 --quick \
#   --rows 1 --rows 3 --cache 64 --cache 128 --seconds 2 --out runs/bench-try
# ```
#
# Each figure is written to `bench.json` at once. The tables are in `bench.md`.
#
# ## What is measured
#
# | part | what |
# |---|---|
# | step | milliseconds per step at six lengths of the cache and five numbers of rows, for each arm |
# | error | logits of our slots and of the unbatched path beside full precision, over forced tokens; `--dtype bfloat16` for that type |
# | neighbours | whether a sample's logits stay the same, bit by bit, beside other samples |
# | prune | a prune of one row, and the copy of a beginning for its cells |
# | scheduler | the real batch for some minutes, on a small scale: busy rows, and the share of forks and prunes |
#
# The arms are the ways in which attention reads the cache:
#
# | arm | cache | attention |
# |---|---|---|
# | grouped | our slots | SDPA with a mask |
# | varlen | our slots | PyTorch's `varlen_attn`, in one part: a row doesn't depend on the others |
# | split | our slots | `varlen_attn` in as many parts as it likes, as engines for serving do |
# | dynamic | transformers' `DynamicCache` | as transformers chooses |
#
# A step's time is nearly a line over the length of the cache. So a pruned and a full cache are both
# points on the line. The column full/pruned compares whole answers: a prompt of 220 tokens and
# 16,384 new ones, with the full cache and with window 2,000 and ratio 0.3. The arm `split` is the
# fair one for the full cache at few rows. Pruned models may write longer answers, which this
# doesn't measure.
#
# ## What can be reached
#
# A step reads the weights and all caches. On an H100 (3.35 TB/s) this limits the gain in latency.
# The table is **computed**. It shows the gain at window 500 and ratio 0.1, at 2,000 and 0.3, and at
# 3,000 and 0.5:
#
# | rows | R1-Qwen, cache read once | R1-Qwen, moved 3 times | R1-Llama, once | R1-Llama, 3 times |
# |---|---|---|---|---|
# | 5 | 1.11, 1.09, 1.08 | 1.29, 1.24, 1.22 | 1.22, 1.18, 1.17 | 1.54, 1.44, 1.39 |
# | 20 | 1.37, 1.31, 1.27 | 1.81, 1.64, 1.56 | 1.66, 1.53, 1.46 | 2.19, 1.90, 1.76 |
# | 64 | 1.84, 1.66, 1.57 | 2.37, 2.02, 1.86 | 2.22, 1.92, 1.78 | 2.64, 2.19, 1.98 |
#
# - **Latency 1.84–2.62×** (the paper): at batch 20, `DynamicCache` comes near it, since it copies the
#   cache at every step. A kernel that reads the cache once gives 1.3 to 1.7 there.
# - **Memory 3.32×** (the paper): it follows from the settings, (16,384 + 220) / 5,001. No GPU is
#   needed. 5.73× is 16,604 / 2,900, the cache just after a prune, not its peak.
# - At 64 rows, the full cache doesn't fit into 80 GB to its end: 60 rows of R1-Qwen do, and 26 of
#   R1-Llama.
#
# ## Figures
#
# **Not run on a GPU.** None was at hand so far. On a CPU, a test runs all parts with a tiny model.

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
from pathlib import Path

import click

from gridatlas.meter import report
from gridatlas_reproduce.kv.bench import SHAPES, Bench, measure, plan_of, tables
from gridatlas_reproduce.kv.options import dtype_option
from gridatlas_reproduce.runner.files import write_atomic

# %% [markdown]
# ## The command line


# %%
@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--shape", type=click.Choice(list(SHAPES)), required=True)
@click.option(
    "--quick", is_flag=True, help="50 steps of each point, once; else 200 steps, 5 times in turns."
)
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    multiple=True,
    default=Bench("").rows,
    show_default=True,
    help="Samples decoded together.",
)
@click.option(
    "--cache",
    "caches",
    type=click.IntRange(min=1),
    multiple=True,
    default=Bench("").caches,
    show_default=True,
    help="Tokens in the cache of each.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1, max=500),
    default=Bench("").seconds,
    show_default=True,
    help="Of the scheduler's part.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0),
    default=9,
    show_default=True,
    help="After which no further point is begun; the same command goes on.",
)
@dtype_option
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
@click.option("--dry-run", is_flag=True, help="Print points and minutes expected, and run nothing.")
def main(
    device: str, out: Path, dry_run: bool, quick: bool, minutes: float, **chosen: object
) -> None:
    """Measure how long a step takes by rows, length of the cache and attention.

    \b
    Examples:
      bench_kv.py --shape r1-llama --quick --dry-run
      bench_kv.py --shape r1-qwen --quick --out runs/bench-r1-qwen
      bench_kv.py --shape tiny --device cpu --dtype float32 --quick --rows 2 --cache 64 --seconds 1
    """
    bench = Bench(**chosen)
    if not quick:
        bench = replace(bench, steps=200, repeats=5)
    if dry_run:
        for line in plan_of(bench):
            click.echo(line)
        return
    found = tables(measure(bench, out, device, report, minutes))
    write_atomic(out / "bench.md", "".join(f"{line}\n" for line in found).encode())
    for line in found:
        click.echo(line)


if __name__ == "__main__":
    main()
