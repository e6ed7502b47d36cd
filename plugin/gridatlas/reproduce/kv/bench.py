"""Decode latency and peak KV memory of pruned caches beside the full cache, with random weights.

Neither depends on what the weights are, only on the model's shape: no checkpoint is needed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from gridatlas.reproduce.kv.decode import Decoding, Ends
from gridatlas.reproduce.kv.memory import check_fits, free_memory, out_of_memory, shape_of
from gridatlas.reproduce.kv.models import WIDTHS
from gridatlas.reproduce.kv.predictor import PredictorSize, new_predictor
from gridatlas.reproduce.kv.sampling import Sampling
from gridatlas.reproduce.kv.scorers import new_scorer
from gridatlas.reproduce.kv.selection import Budget, Protect
from gridatlas.reproduce.runner.devices import choose_device
from gridatlas.reproduce.runner.errors import CannotRun
from gridatlas.reproduce.runner.files import digest, indented, write_atomic
from gridatlas.reproduce.runner.records import SettingsDiffer
from gridatlas.reproduce.runner.runs import differences, environment, utc_now

FILE = "bench.json"
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "r1-qwen": {
        "model_type": "qwen2",
        "vocab_size": 152_064,
        "hidden_size": 3584,
        "intermediate_size": 18_944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "max_position_embeddings": 131_072,
        "tie_word_embeddings": False,
    },
    "r1-llama": {
        "model_type": "llama",
        "vocab_size": 128_256,
        "hidden_size": 4096,
        "intermediate_size": 14_336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "max_position_embeddings": 131_072,
        "tie_word_embeddings": False,
    },
    "tiny": {
        "model_type": "qwen2",
        "vocab_size": 64,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "tie_word_embeddings": False,
    },
}
"""The shapes of DeepSeek-R1-Distill-Qwen-7B and -Llama-8B, and one for tests on a CPU."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured.

    Attributes:
        shape: A key of `SHAPES`.
        batch: Samples decoded together.
        prompt: Tokens of the prompt.
        new_tokens: Per sample; nothing ends earlier.
        warm_up: New tokens of a run before the first that counts.
    """

    shape: str
    scorer: str = "importance"
    windows: tuple[int, ...] = (500, 1000, 2000, 3000)
    ratios: tuple[Decimal, ...] = tuple(
        Decimal(ratio) for ratio in ("0.1", "0.2", "0.3", "0.4", "0.5")
    )
    trigger: int = 5000
    protect: Protect = "tie"
    batch: int = 1
    prompt: int = 200
    new_tokens: int = 16_384
    dtype: str = "bfloat16"
    attention: str = "sdpa"
    seed: int = 0
    warm_up: int = 32

    def budgets(self) -> list[Budget | None]:
        """The full cache first, then the grid."""
        return [
            None,
            *(
                Budget(window, ratio, self.trigger, self.protect)
                for window in self.windows
                for ratio in self.ratios
            ),
        ]

    def settings(self) -> dict[str, Any]:
        """For the file."""
        content = asdict(self)
        content["ratios"] = [str(ratio) for ratio in self.ratios]
        content["windows"] = list(self.windows)
        return content


def config_of(shape: str) -> Any:
    """The transformers configuration of a shape."""
    from transformers import AutoConfig

    content = dict(SHAPES[shape])
    return AutoConfig.for_model(content.pop("model_type"), **content)


def random_model(bench: Bench, device: Any) -> Any:
    """A model of the shape with random weights, made where it shall be."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.manual_seed(bench.seed)
    with torch.device(device):
        return AutoModelForCausalLM.from_config(
            config_of(bench.shape),
            dtype=getattr(torch, bench.dtype),
            attn_implementation=bench.attention,
        ).eval()


def measure(
    bench: Bench,
    folder: Path,
    device_name: str,
    report: Callable[[dict[str, Any]], None] = lambda result: None,
) -> dict[str, Any]:
    """Measure what isn't in the folder's file yet; it is written after each measurement.

    All are measured on one machine in one file: figures of another GPU don't stand beside them.

    Raises:
        CannotRun: For no GPU, a CPU with a real shape, or too little memory.
        SettingsDiffer: Where the file has other settings, or another machine's figures.
    """
    device = choose_device(device_name)
    if device.type == "cpu" and bench.shape != "tiny":
        raise CannotRun(
            f"the shape {bench.shape} on a CPU",
            "a GPU: figures of a CPU say nothing about decoding on one",
            "run it with --device cuda, or try it with --shape tiny --device cpu",
        )
    config = config_of(bench.shape)
    longest = bench.prompt + bench.new_tokens
    check_fits(
        shape_of(config), WIDTHS[bench.dtype], longest, bench.batch, free_memory(device), "--batch"
    )
    record = _recorded(bench, folder)
    results: list[dict[str, Any]] = record["results"]
    left = [
        budget for budget in bench.budgets() if _levels(budget) not in [_of(r) for r in results]
    ]
    if left:
        import torch

        model = random_model(bench, device)
        try:
            _timed(replace(bench, new_tokens=bench.warm_up), model, None)
            for budget in left:
                results.append(_timed(bench, model, budget))
                write_atomic(folder / FILE, indented(record))
                report(results[-1])
        except torch.cuda.OutOfMemoryError as error:
            raise out_of_memory(error, bench.batch, "--batch") from error
    return record


def _levels(budget: Budget | None) -> tuple[Any, Any]:
    return (None, None) if budget is None else (budget.window, str(budget.ratio))


def _of(result: Mapping[str, Any]) -> tuple[Any, Any]:
    return result["local_window"], result["ratio"]


def _recorded(bench: Bench, folder: Path) -> dict[str, Any]:
    """The file's content, or that of a new one."""
    now = environment()
    settings = bench.settings()
    run = f"bench_kv-{digest(settings)[:8]}"
    fresh = {"format": 1, "run": run, "settings": settings, "started": utc_now(), **now}
    path = folder / FILE
    if not path.exists():
        return {**fresh, "results": []}
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        found = differences(
            {"settings": record["settings"], "gpu": record["gpu"], "packages": record["packages"]},
            {"settings": settings, "gpu": now["gpu"], "packages": now["packages"]},
        )
        assert isinstance(record["results"], list)
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
        raise CannotRun(
            f"{path} can't be read: {error!r}",
            "what bench_kv.py wrote",
            "remove it, or name another folder with --out",
        ) from error
    if found:
        raise SettingsDiffer(str(folder), found)
    return record


def _timed(bench: Bench, model: Any, budget: Budget | None) -> dict[str, Any]:
    """Decode to the end, and say how long it took."""
    import torch

    device = next(model.parameters()).device
    # No token ends an answer or a thought.
    ends = Ends(-1, frozenset())
    sampling = Sampling(max_new_tokens=bench.new_tokens)
    seeds = range(bench.batch)
    predictor = None
    if budget is not None and bench.scorer == "importance":
        size = PredictorSize() if bench.shape != "tiny" else PredictorSize(16, 8)
        predictor = new_predictor(model.config.hidden_size, size, bench.seed)
        predictor = predictor.to(device=device, dtype=model.dtype).eval()
    scorer = new_scorer(
        bench.scorer if budget else "full",
        predictor=predictor,
        seeds=list(seeds),
        longest=bench.prompt + bench.new_tokens,
    )
    numbers = torch.Generator().manual_seed(bench.seed)
    prompt = torch.randint(model.config.vocab_size, (bench.prompt,), generator=numbers).tolist()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
        torch.cuda.synchronize(device)
    started = time.monotonic()
    decoding = Decoding(model, prompt, list(seeds), sampling, ends, scorer, budget).run()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    seconds = time.monotonic() - started
    peak = decoding.samples[0].peak
    width = WIDTHS[bench.dtype]
    window, ratio = _levels(budget)
    return {
        "local_window": window,
        "ratio": ratio,
        "budget": None if budget is None else budget.size_after(budget.trigger, bench.prompt),
        "seconds": round(seconds, 6),
        "ms_per_token": round(1000 * seconds / bench.new_tokens, 6),
        "tokens_per_second": round(bench.batch * bench.new_tokens / seconds, 3),
        "prunes": decoding.samples[0].prunes,
        "peak_kv_tokens": peak,
        "peak_kv_bytes": bench.batch * peak * shape_of(model.config).token_bytes(width),
        "peak_gpu_bytes": torch.cuda.max_memory_allocated(device)
        if device.type == "cuda"
        else None,
    }


def compared(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """A table: each cell with its budget, and how it compares with the full cache of this run."""
    full = next((result for result in results if result["ratio"] is None), None)
    if full is None:
        return []
    lines = ["window  ratio  budget  ms/token  latency  peak KV"]
    for result in results:
        if result is full:
            lines.append(
                f"{'full':>6}  {'':>5}  {'':>6}  {result['ms_per_token']:8.2f}  {'1':>7}  "
                f"{result['peak_kv_bytes'] / 2**30:.2f} GiB"
            )
        else:
            lines.append(
                f"{result['local_window']:>6}  {result['ratio']:>5}  {result['budget']:>6}  "
                f"{result['ms_per_token']:8.2f}  {full['seconds'] / result['seconds']:6.2f}×  "
                f"{full['peak_kv_bytes'] / result['peak_kv_bytes']:.2f}× less"
            )
    return lines
