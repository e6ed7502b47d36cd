# %% [markdown]
# # Decode latency and peak KV memory
#
# How much faster a model decodes, and how much less its KV cache takes, with each budget of the
# study beside the full cache, in one run on one GPU. Speed and memory don't depend on what the
# weights are: they are random, in the shapes of the study's models.
#
# The paper states latency 1.84–2.62× lower and peak KV memory 3.32–5.73× lower than with the full
# cache, pruned at 5,000 tokens, with 16,384 new tokens. Its batch isn't known, and the ratio of the
# latencies depends on it: with one sample the weights take most of the time. Compare at these
# settings only, and with the budget that stands beside each ratio.
#
# Both have transformers' `DynamicCache`, which copies a layer's cache to put a token to it: the
# longer, the more. An engine that doesn't would show smaller differences in latency.

# %% [markdown]
# ## Run it
#
# ```sh
# python docs/reproduce/bench_kv.py --shape r1-qwen --dry-run
# python docs/reproduce/bench_kv.py --shape r1-qwen --batch 8 --out runs/bench-r1-qwen
# ```
#
# A try on a CPU, whose figures say nothing:
#
# ```sh
# python docs/reproduce/bench_kv.py --shape tiny --device cpu --dtype float32 --new-tokens 200 --trigger 100 --local-window 20 --ratio 0.1 --out runs/bench-try
# ```
#
# The figures are in the folder's `bench.json`, written after each measurement; the same command
# goes on with what is missing.
#
# ## Figures
#
# **Not run.** The real shapes need a GPU, and none was at hand so far. Whether the paper's figures
# are reached isn't known.

# %%
# /// script
# requires-python = ">=3.11"
# dependencies = ["gridatlas[reproduce]"]
#
# [tool.uv.sources]
# gridatlas = { path = "../..", editable = true }
# ///

from pathlib import Path

import click

from gridatlas.reproduce.kv.bench import SHAPES, Bench, compared, config_of, measure
from gridatlas.reproduce.kv.memory import GIB, SPARE, shape_of
from gridatlas.reproduce.kv.models import WIDTHS
from gridatlas.reproduce.kv.options import (
    attention_option,
    dtype_option,
    exact_ratios,
    protect_option,
    trigger_option,
)
from gridatlas.reproduce.kv.scorers import NAMES
from gridatlas.reproduce.runner.progress import report


# %%
def plan_of(bench: Bench) -> list[str]:
    """What a run takes."""
    shape, width = shape_of(config_of(bench.shape)), WIDTHS[bench.dtype]
    cells = len(bench.budgets())
    cache = bench.batch * (bench.prompt + bench.new_tokens) * shape.token_bytes(width)
    weights = shape.weight_bytes(width)
    return [
        f"{cells} measurements: the full cache and {cells - 1} budgets",
        f"{cells * bench.new_tokens:,} steps of {bench.batch} tokens",
        f"{(weights + cache + SPARE) / GIB:.1f} GiB of GPU memory: weights {weights / GIB:.1f}, "
        f"full cache {cache / GIB:.1f}, spare {SPARE / GIB:.1f}",
    ]


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
    default=(500, 1000, 2000, 3000),
    show_default=True,
)
@click.option(
    "--ratio",
    "ratios",
    multiple=True,
    callback=exact_ratios,
    default=("0.1", "0.2", "0.3", "0.4", "0.5"),
    show_default=True,
)
@trigger_option
@protect_option
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Samples decoded together.",
)
@click.option(
    "--prompt",
    type=click.IntRange(min=1),
    default=200,
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
def main(device: str, out: Path, dry_run: bool, **chosen: object) -> None:
    """Measure decode latency and peak KV memory with pruned caches beside the full cache.

    \b
    Examples:
      bench_kv.py --shape r1-llama --dry-run
      bench_kv.py --shape r1-qwen --batch 8 --out runs/bench-r1-qwen
      bench_kv.py --shape tiny --device cpu --new-tokens 200 --trigger 100 --local-window 20
    """
    bench = Bench(**chosen)
    try:
        bench.budgets()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if dry_run:
        for line in plan_of(bench):
            click.echo(line)
        return
    measured = measure(bench, out, device, lambda comparison: report(compared_line(comparison)))
    for line in compared(measured["results"]):
        click.echo(line)


def compared_line(result: dict) -> str:
    """One measurement, as it is told while the run goes on."""
    name = (
        "the full cache"
        if result["ratio"] is None
        else f"window {result['local_window']}, ratio {result['ratio']}"
    )
    return f"{name}: {result['ms_per_token']:.2f} ms per token"


if __name__ == "__main__":
    main()
