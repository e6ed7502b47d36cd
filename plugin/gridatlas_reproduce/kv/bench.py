"""Speed of decoding with random weights, measured in points, and what a batch of slots must hold.

Speed depends on a model's shape alone: no checkpoint is needed. A step's time is nearly a line over
the tokens in the cache, so that a few lengths tell that of any pruned or full cache.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import linear_regression, median
from typing import TYPE_CHECKING, Any

from gridatlas.meter import duration
from gridatlas_reproduce.kv.continuous import Ends, SlotDecoder, Task
from gridatlas_reproduce.kv.cost import COPIED, GPU, LEAST_STEP, SLOWER, least_seconds, mean_cache
from gridatlas_reproduce.kv.memory import SPARE, USED, gpu_memory, shape_of, slots_for
from gridatlas_reproduce.kv.models import LEVELS, WIDTHS, sizes_of
from gridatlas_reproduce.kv.predictor import PredictorSize, new_predictor
from gridatlas_reproduce.kv.selection import Budget, Sampling, Scorer, drawn, new_scorer, select
from gridatlas_reproduce.kv.slots import Reading, SlotCache, slot_pass, varlen_error
from gridatlas_reproduce.runner.devices import choose_device
from gridatlas_reproduce.runner.errors import CannotRun, readable
from gridatlas_reproduce.runner.files import indented, write_atomic
from gridatlas_reproduce.runner.records import SettingsDiffer
from gridatlas_reproduce.runner.runs import differences, environment, gpu_state, utc_now

if TYPE_CHECKING:
    from torch import Tensor

FILE = "bench.json"
BUDGET = Budget(2000, Decimal("0.3"), 5001)
PROMPT = 220
Step = Callable[[int], "Tensor"]
"""Passes a token of each row through the model."""
Point = dict[str, Any]
"""What is measured at once: its `part`, and what tells it from the others."""
ARMS: tuple[str, ...] = ("grouped", "varlen", "split", "dynamic")
"""Slots by each reading; transformers' own `DynamicCache`."""
SHAPES = (*LEVELS, "tiny")
"""Those of DeepSeek-R1-Distill-Qwen-7B and -Llama-8B, and one for tests on a CPU."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured.

    Attributes:
        shape: One of `SHAPES`.
        rows: Samples decoded together.
        caches: Tokens in each sample's cache.
        steps: Per point and repeat.
        seconds: Of the scheduler's part.
    """

    shape: str
    dtype: str = "float16"
    rows: tuple[int, ...] = (1, 5, 20, 60, 200)
    caches: tuple[int, ...] = (500, 1000, 2500, 5000, 8000, 16_000)
    steps: int = 50
    repeats: int = 1
    seconds: float = 240
    seed: int = 0

    def points(self, arms: tuple[str, ...] = ARMS) -> list[Point]:
        """All points, the checks first; those that don't fit into a GPU, too."""
        checks: list[Point] = [{"part": part} for part in ("error", "neighbours", "prune")]
        steps = [
            {"part": "step", "arm": arm, "rows": rows, "cache": cache, "repeat": repeat}
            for repeat in range(self.repeats)
            for rows in self.rows
            for cache in self.caches
            # What drifts meets all arms alike.
            for arm in (arms if repeat % 2 == 0 else arms[::-1])
        ]
        return [*checks, *steps, {"part": "scheduler"}]

    def needed(self, point: Point) -> float:
        """Bytes of GPU memory that a point takes."""
        shape, width = shape_of(config_of(self.shape)), WIDTHS[self.dtype]
        if point["part"] == "error":
            # The same weights once more, in full precision.
            return shape.weight_bytes(width + 4) + SPARE
        cache = point.get("cache", PROMPT + 600) + self.steps
        rows = point.get("rows", max(self.rows))
        bytes_of_caches = rows * slots_for(cache) * shape.token_bytes(width)
        # `DynamicCache` copies a layer to put a token to it.
        copied = 1 / shape.layers if point.get("arm") == "dynamic" else 0
        return float(shape.weight_bytes(width) + bytes_of_caches * (1 + copied) + SPARE)


def config_of(shape: str) -> Any:
    """The transformers configuration of a shape."""
    from transformers import AutoConfig

    return AutoConfig.for_model(**vars(sizes_of(shape)), max_position_embeddings=131_072)


def random_model(bench: Bench, device: Any) -> Any:
    """A model of the shape with random weights, made where it shall be."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.manual_seed(bench.seed)
    with torch.device(device):
        return AutoModelForCausalLM.from_config(
            config_of(bench.shape), dtype=getattr(torch, bench.dtype), attn_implementation="sdpa"
        ).eval()


def measure(
    bench: Bench,
    folder: Path,
    device_name: str,
    report: Callable[[str], None] = lambda text: None,
    minutes: float = 9,
) -> dict[str, Any]:
    """Measure what isn't in the folder's file yet, for so long; each result is written at once.

    Raises:
        CannotRun: For no GPU, or a CPU with a real shape.
        SettingsDiffer: Where the file has other settings, or another machine's figures.
    """
    import torch

    device, began = choose_device(device_name), time.monotonic()
    if device.type == "cpu" and bench.shape != "tiny":
        raise CannotRun(
            f"the shape {bench.shape} on a CPU",
            "a GPU: figures of a CPU say nothing about decoding on one",
            "run it with --device cuda, or try it with --shape tiny --device cpu",
        )
    why = varlen_error(device, bench.dtype)
    report(f"varlen_attn can't be taken: {why}" if why else "varlen_attn is there, and right")
    arms = ARMS if why is None else ("grouped", "dynamic")
    record = _recorded(bench, folder)
    record["varlen"] = why or "right"
    memory, results = gpu_memory(device), record["results"]
    points = bench.points(arms)
    fitting = [p for p in points if memory is None or bench.needed(p) <= USED * memory]
    record["left_out"] = [point for point in points if point not in fitting]
    done = [
        {k: r[k] for k in ("part", "arm", "rows", "cache", "repeat") if k in r} for r in results
    ]
    left = [point for point in fitting if point not in done]
    measuring = Measuring(bench, device, "varlen" if why is None else "grouped") if left else None
    for number, point in enumerate(left):
        if number and time.monotonic() - began > 60 * minutes:
            break
        assert measuring is not None
        try:
            found = measuring.of(point)
        except torch.cuda.OutOfMemoryError:
            record["left_out"].append(point)
            continue
        results.append(point | found)
        write_atomic(folder / FILE, indented(record))
        report(" ".join(f"{key} {value}" for key, value in results[-1].items()))
    record["missing"] = len(fitting) - len(results)
    write_atomic(folder / FILE, indented(record))
    return record


class Measuring:
    """A model, and what is measured with it."""

    def __init__(self, bench: Bench, device: Any, reading: Reading) -> None:
        self.bench, self.device, self.reading = bench, device, reading
        self.model = random_model(bench, device)
        size = PredictorSize() if bench.shape != "tiny" else PredictorSize(16, 8)
        predictor = new_predictor(self.model.config.hidden_size, size, bench.seed)
        predictor = predictor.to(device=device, dtype=self.model.dtype).eval()
        self.scorer: Scorer = new_scorer("importance", predictor)

    def of(self, point: Point) -> dict[str, Any]:
        """One point's figures."""
        import torch

        with torch.inference_mode():
            found: dict[str, Any] = getattr(self, f"_{point['part']}")(point)
        return {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in found.items()}

    # --- parts ------------------------------------------------------------------------------------

    def _step(self, point: Point) -> dict[str, Any]:
        """Milliseconds of a step."""
        made = self._dynamic if point["arm"] == "dynamic" else self._slots
        step = made(point["arm"], point["rows"], point["cache"])
        times = [self._ms(lambda: step(1)) for _ in range(self.bench.steps + 3)][3:]
        return {"ms": median(times), "least": min(times)}

    def _error(self, point: Point) -> dict[str, Any]:
        """Slots and the unbatched path beside full precision, over forced tokens."""
        exact = copy.deepcopy(self.model).float()
        wanted = self._forced(self._dynamic("dynamic", 1, PROMPT, exact))
        content = {"largest_logit": float(wanted.abs().max())}
        steps = (self._dynamic("dynamic", 1, PROMPT), self._slots(self.reading, 4, PROMPT))
        for name, step in zip(("unbatched", "slots"), steps, strict=True):
            logits = self._forced(step)
            content[f"{name}_error"] = float((logits - wanted).abs().max())
            same = (logits.argmax(dim=-1) == wanted.argmax(dim=-1)).float().mean()
            content[f"{name}_argmax_equal"] = float(same)
        return content

    def _neighbours(self, point: Point) -> dict[str, Any]:
        """Whether a sample's logits are the same, bit by bit, beside other samples."""
        rows = max(self.bench.rows)
        first, other = (
            self._forced(self._slots(self.reading, rows, PROMPT, others)) for others in (8, 9)
        )
        same = int((first == other).all(dim=1).sum())
        return {"in_batch": rows, "tokens": len(first), "equal_bitwise": same}

    def _prune(self, point: Point) -> dict[str, Any]:
        """One prune; and one beginning that is copied, and put into a row."""
        import torch

        cache = SlotCache(self.model.config, 2, BUDGET.trigger, self.model.dtype, self.device)
        cache.fill(0, *self._tokens_of(BUDGET.trigger), torch.arange(BUDGET.trigger))
        scores = torch.rand(BUDGET.trigger, device=self.device)
        fork = self._ms(lambda: cache.fill(1, *cache.taken(0)))
        prune = self._ms(lambda: cache.compact(0, select(scores, scores > 1, scores > 1, BUDGET)))
        return {"prune_ms": prune, "fork_ms": fork}

    def _scheduler(self, point: Point) -> dict[str, Any]:
        """The real batch for a while, on a small scale: busy rows, and what stops them."""
        budgets = [
            Budget(w, Decimal(r) / 10, 600) for w in (60, 120, 240, 360) for r in range(1, 6)
        ]
        vocabulary, rows = self.model.config.vocab_size, max(self.bench.rows)
        room, sampling = slots_for(PROMPT + 600), Sampling(max_new_tokens=2000)
        ends = Ends(-1, frozenset(range(0, vocabulary, 1000)))
        decoder = SlotDecoder(
            self.model, self.scorer, rows, room, sampling, ends, reading=self.reading
        )
        spent = dict.fromkeys(("_fork", "_start_tail", "_prune", "_prefilled"), 0.0)
        for name in spent:
            setattr(decoder, name, self._timed(name, getattr(decoder, name), spent))
        endless = (
            Task(
                str(n),
                tuple((n + i) % vocabulary for i in range(PROMPT)),
                tuple(range(n, n + 5)),
                tuple(enumerate(budgets)),
            )
            for n in range(10**9)
        )
        began = time.monotonic()
        while (seconds := time.monotonic() - began) < self.bench.seconds:
            list(decoder._step(endless))
        return {
            "in_batch": rows,
            "seconds": seconds,
            "busy": min(decoder.drawn / max(decoder.passes * rows, 1), 1.0),
            "forks": (spent["_fork"] + spent["_start_tail"]) / seconds,
            "prunes": spent["_prune"] / seconds,
            "prefills": spent["_prefilled"] / seconds,
            "tokens_per_second": decoder.drawn / seconds,
        }

    # --- helpers ----------------------------------------------------------------------------------

    def _tokens_of(self, number: int, seed: int = 0) -> tuple[Tensor, Tensor]:
        """Keys and values [layers, tokens, kv heads, d]: any, the same for the same seed."""
        import torch

        shape = shape_of(self.model.config)
        numbers = torch.Generator(self.device).manual_seed(seed)
        size = (shape.layers, number, shape.kv_heads, shape.head_dim)
        keys = torch.randn(size, generator=numbers, device=self.device).to(self.model.dtype)
        return keys, keys.roll(1, dims=1)

    def _forced(self, step: Step) -> Tensor:
        """[tokens, vocabulary]: the first row's logits after each of some tokens."""
        import torch

        return torch.stack([step(token % 60).float().clone() for token in range(self.bench.steps)])

    def _slots(self, reading: str, rows: int, length: int, others: int = 0) -> Step:
        """A step of slots, with scores and drawn tokens; gives the first row's logits."""
        import torch

        room = slots_for(length + self.bench.steps + 4)
        cache = SlotCache(self.model.config, rows, room, self.model.dtype, self.device)
        positions = torch.arange(length, device=self.device)
        for row in range(rows):
            cache.fill(row, *self._tokens_of(length, others if row else 0), positions)
        uniform = torch.full((rows,), 0.5, dtype=torch.float64)

        def step(token: int) -> Tensor:
            hidden = slot_pass(self.model, cache, reading, [token] * rows, cache.lengths)
            self.scorer(hidden, cache.own[:, 0], cache.own[:, 0])
            logits: Tensor = self.model.lm_head(hidden)
            drawn(logits, uniform, Sampling())
            cache.end(range(rows))
            return logits[0]

        return step

    def _dynamic(self, arm: str, rows: int, length: int, other: Any = None) -> Step:
        """A step of transformers' own cache; without a mask, for all rows are equally long."""
        import torch
        from transformers import DynamicCache

        model = other or self.model
        cache = DynamicCache(config=model.config)
        for layer, pair in enumerate(zip(*self._tokens_of(length), strict=True)):
            keys, values = (
                part.transpose(0, 1).to(model.dtype).expand(rows, -1, -1, -1) for part in pair
            )
            cache.update(keys.clone(), values.clone(), layer)
        uniform = torch.full((rows,), 0.5, dtype=torch.float64)

        def step(token: int) -> Tensor:
            ids = torch.full((rows, 1), token, device=self.device)
            logits = model(input_ids=ids, past_key_values=cache, logits_to_keep=1).logits[:, -1]
            drawn(logits, uniform, Sampling())
            found: Tensor = logits[0]
            return found

        return step

    def _timed(self, name: str, act: Callable[..., Any], spent: dict[str, float]) -> Any:
        def timed(*given: Any) -> Any:
            found: list[Any] = []
            spent[name] += self._ms(lambda: found.append(act(*given))) / 1000
            return found[0]

        return timed

    def _ms(self, act: Callable[[], Any]) -> float:
        """Milliseconds of what is done, with all that a GPU still has to do."""
        import torch

        def now() -> float:
            if self.device.type == "cuda":
                torch.cuda.synchronize(self.device)
            return time.perf_counter()

        began = now()
        act()
        return 1000 * (now() - began)


def _recorded(bench: Bench, folder: Path) -> dict[str, Any]:
    """The file's content, or that of a new one."""
    now, path = environment(), folder / FILE
    fresh = {"format": 3, "settings": asdict(bench), "started": utc_now(), **now}
    if not path.exists():
        return {**fresh, "gpu_state": gpu_state(), "left_out": [], "results": []}
    record = read_bench(folder)
    same = ("settings", "gpu", "packages")
    found = differences({k: record[k] for k in same}, {k: fresh[k] for k in same})
    if found:
        raise SettingsDiffer(str(folder), found)
    return record


def read_bench(folder: Path) -> dict[str, Any]:
    """What was measured in a folder.

    Raises:
        CannotRun: For a file that can't be read.
    """
    path = folder / FILE
    with readable(path, "what bench_kv.py wrote", "remove it, or name another folder"):
        record: dict[str, Any] = json.loads(path.read_bytes())
        if record["format"] != 3 or not isinstance(record["results"], list):
            raise ValueError("it is of another format")
        _ = [record[key] for key in ("settings", "gpu", "packages")]
    return record


NEW_TOKENS = 16_384


def plan_of(bench: Bench) -> list[str]:
    """Points, time and the computed limits, for a GPU of 80 GB; line by line."""
    least = partial(least_seconds, config_of(bench.shape), WIDTHS[bench.dtype])
    moved = dict.fromkeys(ARMS, 1) | {"dynamic": COPIED}
    points = bench.points()
    steps = [p for p in points if p["part"] == "step" and bench.needed(p) <= GPU]
    each = [least(p["rows"], p["cache"], moved[p["arm"]]) for p in steps]
    seconds = (bench.steps + 3) * sum(max(SLOWER * step, LEAST_STEP) for step in each)
    full, pruned = (mean_cache(PROMPT, NEW_TOKENS, budget) for budget in (None, BUDGET))
    lines = [
        f"{len(steps)} of {len(points) - 4} points fit into 80 GB, {bench.steps} steps each; "
        "4 further parts",
        f"GPU time, an estimate: {duration(seconds + bench.seconds + 60)}",
        "Computed limits on an H100 (3.35 TB/s), full/pruned latency at window "
        f"{BUDGET.window} and ratio {BUDGET.ratio}:",
        f"rows  cache read once  moved {COPIED} times",
    ]
    for rows in bench.rows:
        once, copied = (least(rows, full, t) / least(rows, pruned, t) for t in (1, COPIED))
        lines.append(f"{rows:>4}  {once:>15.2f}  {copied:>13.2f}")
    return lines


def steps_of(record: Mapping[str, Any]) -> dict[str, dict[int, dict[int, float]]]:
    """Milliseconds per step by arm, rows and tokens in the cache: the median of the repeats."""
    times: dict[tuple[str, int, int], list[float]] = {}
    for each in record["results"]:
        if each["part"] == "step":
            times.setdefault((each["arm"], each["rows"], each["cache"]), []).append(each["ms"])
    found: dict[str, dict[int, dict[int, float]]] = {}
    for (arm, rows, cache), ms in sorted(times.items()):
        found.setdefault(arm, {}).setdefault(rows, {})[cache] = median(ms)
    return found


def tables(record: Mapping[str, Any]) -> list[str]:
    """All that was measured, with the device's name; in Markdown."""
    caches = record["settings"]["caches"]
    lines = [
        f"{record['settings']['shape']}, {record['settings']['dtype']}, on {_gpu_of(record)}. "
        f"varlen_attn: {record['varlen']}.",
        "",
        "| arm | rows | " + " | ".join(f"{cache:,}" for cache in caches) + " | full/pruned |",
        "|---|" + "---:|" * (len(caches) + 2),
    ]
    for arm, by_rows in steps_of(record).items():
        for rows, by_cache in by_rows.items():
            cells = (f"{by_cache[c]:.2f}" if c in by_cache else "" for c in caches)
            lines.append(f"| {arm} | {rows} | {' | '.join(cells)} | {_gain(by_cache)} |")
    for each in record["results"]:
        if each["part"] != "step":
            values = ", ".join(f"{k} {v:,}" for k, v in each.items() if k != "part")
            lines.append(f"- {each['part']}: {values}")
    if record["missing"]:
        lines.append(f"- {record['missing']} points are missing: the same command goes on")
    return lines


def _gpu_of(record: Mapping[str, Any]) -> str:
    return str((record["gpu"] or {}).get("name", "a CPU"))


def _gain(by_cache: Mapping[int, float]) -> str:
    """The full cache's time divided by the pruned one's, over a whole answer, where it is known."""
    if len(by_cache) < 2:
        return ""
    full, pruned = (_at(by_cache, mean_cache(PROMPT, NEW_TOKENS, b)) for b in (None, BUDGET))
    return f"{full / pruned:.2f}"


def _at(by_cache: Mapping[int, float], cache: float) -> float:
    """Milliseconds at a length, by the line through those that were measured."""
    slope, start = linear_regression(list(by_cache), list(by_cache.values()))
    return max(start + slope * cache, min(by_cache.values()) / 2)


def measured_step(record: Mapping[str, Any], rows: int, cache: float) -> tuple[float, float, str]:
    """Seconds of a step of slots with so many rows and tokens each, share of busy rows, and GPU.

    Raises:
        CannotRun: Where the bench hasn't come so far.
    """
    steps = steps_of(record)
    arm = steps.get("varlen") or steps.get("grouped") or {}
    defined = {n: _at(by_cache, cache) for n, by_cache in arm.items() if len(by_cache) > 1}
    busy = [each["busy"] for each in record["results"] if each["part"] == "scheduler"]
    if len(defined) < 2 or not busy:
        raise CannotRun(
            "the bench has too few points",
            "two numbers of rows with two lengths each, and the scheduler's part",
            "give the bench's command again: it goes on with what is missing",
        )
    pairs = list(pairwise(sorted(defined.items())))
    (low, first), (high, last) = next((p for p in pairs if rows <= p[1][0]), pairs[-1])
    seconds = (first + (last - first) * (rows - low) / (high - low)) / 1000
    return seconds, busy[0], _gpu_of(record)
