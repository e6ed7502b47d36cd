"""Speed of decoding with random weights, measured in points, and what a batch of slots must hold.

Speed depends on a model's shape alone: no checkpoint is needed. A step's time is nearly a line over
the tokens in the cache, so that a few lengths tell that of any pruned or full cache.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.kv.batches import USED, gpu_memory, slots_for
from gridatlas_reproduce.kv.continuous import SlotDecoder, _Row
from gridatlas_reproduce.kv.memory import SPARE, shape_of
from gridatlas_reproduce.kv.models import WIDTHS
from gridatlas_reproduce.kv.predictor import PredictorSize, new_predictor
from gridatlas_reproduce.kv.prefill import State, prefilled
from gridatlas_reproduce.kv.sampling import Sampling, drawn
from gridatlas_reproduce.kv.scorers import Scorer, new_scorer
from gridatlas_reproduce.kv.selection import Budget
from gridatlas_reproduce.kv.slots import Reading, varlen_error
from gridatlas_reproduce.kv.tasks import Ends, Sample, Task
from gridatlas_reproduce.runner.devices import choose_device
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.files import indented, write_atomic
from gridatlas_reproduce.runner.records import SettingsDiffer
from gridatlas_reproduce.runner.runs import differences, environment, gpu_state, utc_now

if TYPE_CHECKING:
    from torch import Tensor

FILE = "bench.json"
BUDGET = Budget(2000, Decimal("0.3"), 5001)
PROMPT = 220
NO_END = Ends(-1, frozenset())
Point = dict[str, Any]
"""What is measured at once: its `part`, and what tells it from the others."""
ARMS: tuple[str, ...] = ("grouped", "varlen", "split", "dynamic")
"""Slots by each reading; transformers' own `DynamicCache`."""
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

    def settings(self) -> dict[str, Any]:
        """For the file."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


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
    why = varlen_error(device, getattr(torch, bench.dtype))
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
        self.vocabulary = self.model.config.vocab_size
        size = PredictorSize() if bench.shape != "tiny" else PredictorSize(16, 8)
        predictor = new_predictor(self.model.config.hidden_size, size, bench.seed)
        predictor = predictor.to(device=device, dtype=self.model.dtype).eval()
        self.scorer: Scorer = new_scorer("importance", predictor)

    def of(self, point: Point) -> dict[str, Any]:
        """One point's figures."""
        import torch

        with torch.inference_mode():
            if point["part"] != "step":
                found: dict[str, Any] = getattr(self, f"_{point['part']}")()
                return found
            if point["arm"] == "dynamic":
                step = self._dynamic(point["rows"], point["cache"])
            else:
                decoder = self._filled(point["arm"], point["rows"], point["cache"])

                def step() -> None:
                    list(decoder._step(iter(())))

            times = [self._ms(step) for _ in range(self.bench.steps + 3)][3:]
        return {"ms": _rounded(median(times)), "least": _rounded(min(times))}

    # --- parts ------------------------------------------------------------------------------------

    def _prune(self) -> dict[str, Any]:
        """One prune; and one beginning that is copied for its cells, of which one starts."""
        decoder = self._filled(self.reading, 2, BUDGET.trigger)
        row = decoder.rows[0]
        assert row is not None
        row.cell, row.budget = "cell", BUDGET
        prune = self._ms(lambda: decoder._prune(0, row))
        other = decoder.rows[1]
        assert other is not None
        other.task = self._task("cells", 0, 1, [BUDGET, BUDGET])
        fork = self._ms(lambda: decoder._fork(other, decoder._state(1)))
        start = self._ms(lambda: decoder._start_tail(0))
        found = {"prune_ms": prune, "fork_ms": fork, "start_ms": start}
        return {key: _rounded(value) for key, value in found.items()}

    def _error(self) -> dict[str, Any]:
        """Slots and the unbatched path beside full precision, over forced tokens."""
        import torch
        from transformers import DynamicCache

        length = 4 * self.bench.steps
        ids = self._tokens(PROMPT + length)
        exact = copy.deepcopy(self.model).float()
        wanted = exact(input_ids=ids[None], logits_to_keep=length).logits[0]
        del exact
        decoder = self._filled(self.reading, 4, 0, ids[:PROMPT].tolist(), PROMPT + length)
        cache, slots, alone = DynamicCache(config=self.model.config), [], []
        self.model(input_ids=ids[None, :PROMPT], past_key_values=cache, logits_to_keep=1)
        for token in ids[PROMPT:]:
            for number, row in enumerate(decoder.rows):
                assert row is not None
                row.sample.tokens.append(int(token))
                decoder.tokens[number] = int(token)
            decoder._pass()
            slots.append(decoder.logits[0].float())
            given = {"past_key_values": cache, "logits_to_keep": 1}
            alone.append(self.model(input_ids=token[None, None], **given).logits[0, 0].float())
        found = {}
        for name, each in (("slots", torch.stack(slots)), ("unbatched", torch.stack(alone))):
            found[f"{name}_error"] = _rounded(float((each - wanted).abs().max()))
            same = (each.argmax(dim=-1) == wanted.argmax(dim=-1)).float().mean()
            found[f"{name}_argmax_equal"] = _rounded(float(same))
        return found | {"largest_logit": _rounded(float(wanted.abs().max()))}

    def _neighbours(self) -> dict[str, Any]:
        """Whether a sample's logits are the same, bit by bit, beside other samples."""
        rows, runs = max(self.bench.rows), []
        for first in (0, 1):
            others = [self._task(f"{first}/{n}", first * 1000 + n + 9, 1) for n in range(rows - 1)]
            own = self._task("own", 7, 1)
            tasks = [own, *others] if first == 0 else [*others, own]
            decoder = _Noting(self, rows, slots_for(PROMPT + 2 * rows + 4 * self.bench.steps))
            decoder.sampling = Sampling(max_new_tokens=2 * self.bench.steps)
            list(decoder.run(tasks))
            runs.append(decoder.noted)
        same = [bool((a == b).all()) for a, b in zip(*runs, strict=True)]
        return {"in_batch": rows, "tokens": len(same), "equal_bitwise": sum(same)}

    def _scheduler(self) -> dict[str, Any]:
        """The real batch for a while, on a small scale: busy rows, and what stops them."""
        budgets = [
            Budget(w, Decimal(r) / 10, 600) for w in (60, 120, 240, 360) for r in range(1, 6)
        ]
        stop = frozenset(range(0, self.vocabulary, 1000))
        rows = max(self.bench.rows)
        decoder = _Timed(self, rows, slots_for(PROMPT + 600), Ends(-1, stop))
        decoder.sampling = Sampling(max_new_tokens=2000)
        endless = (self._task(str(n), n, 5, budgets) for n in range(10**9))
        began = time.monotonic()
        while (spent := time.monotonic() - began) < self.bench.seconds:
            list(decoder._step(endless))
        return {
            "in_batch": rows,
            "seconds": _rounded(spent),
            "passes": decoder.passes,
            "busy": _rounded(min(decoder.drawn / max(decoder.passes * rows, 1), 1)),
            "forks": _rounded(decoder.spent["fork"] / spent),
            "prunes": _rounded(decoder.spent["prune"] / spent),
            "prefills": _rounded(decoder.spent["prefill"] / spent),
            "tokens_per_second": _rounded(decoder.drawn / spent),
        }

    # --- helpers ----------------------------------------------------------------------------------

    def _tokens(self, number: int, seed: int = 0) -> Tensor:
        import torch

        numbers = torch.Generator().manual_seed(self.bench.seed + seed)
        return torch.randint(1, self.vocabulary, (number,), generator=numbers).to(self.device)

    def _task(self, key: str, seed: int, samples: int, budgets: list[Budget] | None = None) -> Task:
        cells = tuple(enumerate(budgets)) if budgets else (("whole", None),)
        prompt = tuple(self._tokens(PROMPT, seed).tolist())
        return Task(key, prompt, tuple(range(seed, seed + samples)), cells)

    def _filled(
        self, reading: str, rows: int, cache: int, prompt: list[int] | None = None, room: int = 0
    ) -> SlotDecoder:
        """A batch whose rows hold so many tokens, or a prompt."""
        import torch

        steps = self.bench.steps + 4
        slots = slots_for(max(cache + steps, room) + 1)
        sampling = Sampling(max_new_tokens=10**6)
        decoder = SlotDecoder(
            self.model, self.scorer, rows, slots, sampling, NO_END, reading=reading
        )
        task = Task("bench", tuple(prompt or [1] * cache), (0,), (("whole", None),))
        if prompt:
            state = prefilled(self.model, prompt, (), self.scorer, 0, NO_END)
        else:
            shape = (len(decoder.cache.layers), cache, *decoder.cache.keys.shape[3:])
            keys = torch.randn(shape, dtype=self.model.dtype, device=self.device)
            positions = torch.arange(cache, device=self.device)
            zeros = positions.float() * 0
            logits = torch.zeros(self.vocabulary, device=self.device)
            state = State(keys, keys, positions, zeros, zeros > 0, logits)
        uniform = torch.rand(steps + 1, dtype=torch.float64)
        for number in range(rows):
            decoder._put(number, _Row(task, 0, Sample(), uniform, thought=False), state)
        return decoder

    def _dynamic(self, rows: int, cache: int) -> Callable[[], None]:
        """A step of transformers' own cache; without a mask, for all rows are equally long."""
        import torch
        from transformers import DynamicCache

        config, shape = self.model.config, shape_of(self.model.config)
        filled = DynamicCache(config=config)
        size = (rows, shape.kv_heads, cache, shape.head_dim)
        for layer in range(shape.layers):
            keys = torch.randn(size, dtype=self.model.dtype, device=self.device)
            filled.update(keys, keys, layer)
        given = torch.ones(rows, 1, dtype=torch.long, device=self.device)
        uniform = torch.full((rows,), 0.5, dtype=torch.float64)

        def step() -> None:
            logits = self.model(input_ids=given, past_key_values=filled, logits_to_keep=1).logits
            given[:, 0] = drawn(logits[:, -1], uniform, Sampling())

        return step

    def _ms(self, act: Callable[[], Any]) -> float:
        return 1000 * seconds_of(self.device, act)


def seconds_of(device: Any, act: Callable[[], Any]) -> float:
    """Seconds of what is done, with all that a GPU still has to do."""
    import torch

    def now() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter()

    began = now()
    act()
    return now() - began


class _Noting(SlotDecoder):
    """Notes the logits that the tokens of one task are drawn from."""

    def __init__(self, of: Measuring, rows: int, slots: int) -> None:
        super().__init__(of.model, of.scorer, rows, slots, Sampling(), NO_END, reading=of.reading)
        self.noted: list[Tensor] = []

    def _draw(self) -> Iterator[Any]:
        own = [n for n, row in enumerate(self.rows) if row and row.task.key == "own"]
        self.noted += [self.logits[number].cpu() for number in own]
        yield from super()._draw()


class _Timed(SlotDecoder):
    """Notes what time forks, prunes and prefills take."""

    def __init__(self, of: Measuring, rows: int, slots: int, ends: Ends) -> None:
        super().__init__(of.model, of.scorer, rows, slots, Sampling(), ends, reading=of.reading)
        self.spent = {"fork": 0.0, "prune": 0.0, "prefill": 0.0}

    def _noted(self, what: str, act: Callable[[], Any]) -> None:
        self.spent[what] += seconds_of(self.device, act)

    def _fork(self, row: Any, state: State) -> None:
        self._noted("fork", lambda: super(_Timed, self)._fork(row, state))

    def _start_tail(self, number: int) -> None:
        self._noted("fork", lambda: super(_Timed, self)._start_tail(number))

    def _prune(self, number: int, row: Any) -> None:
        self._noted("prune", lambda: super(_Timed, self)._prune(number, row))

    def _prefilled(self, *given: Any) -> State:
        found: list[State] = []
        self._noted("prefill", lambda: found.append(super(_Timed, self)._prefilled(*given)))
        return found[0]


def _rounded(number: float) -> float:
    return float(f"{number:.4g}")


def _recorded(bench: Bench, folder: Path) -> dict[str, Any]:
    """The file's content, or that of a new one."""
    now, path = environment(), folder / FILE
    fresh = {"format": 3, "settings": bench.settings(), "started": utc_now(), **now}
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
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        if record["format"] != 3 or not isinstance(record["results"], list):
            raise ValueError("it is of another format")
        assert {"settings", "gpu", "packages"} <= record.keys()
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
        raise CannotRun(
            f"{path} can't be read: {error!r}",
            "what bench_kv.py wrote",
            "remove it, or name another folder",
        ) from error
    return record
