"""Speed and memory: what is measured, and beside what; figures of tiny shapes say nothing."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from test_kv_sweep import page

from gridatlas_reproduce.kv import bench_run
from gridatlas_reproduce.kv.batches import USED
from gridatlas_reproduce.kv.bench import Arm, Bench, config_of
from gridatlas_reproduce.kv.bench_plan import plan_of
from gridatlas_reproduce.kv.bench_run import in_turns, measure
from gridatlas_reproduce.kv.bench_tables import as_csv, compared, summary
from gridatlas_reproduce.kv.roofline import Roofline, copying_traffic, mean_cache
from gridatlas_reproduce.kv.selection import Budget
from gridatlas_reproduce.runner import runs
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.records import SettingsDiffer

TOKEN = 2 * 2 * 2 * 8 * 4
"""Bytes of a token: keys and values, layers, heads, their width, bytes per number."""
TINY = Bench(
    "tiny",
    windows=(10,),
    ratios=(Decimal("0.1"),),
    trigger=60,
    rows=(1, 2),
    # Of the full cache 3 rows of 112 slots fit, of the pruned one 5 of 64.
    cache_bytes=3 * 112 * TOKEN,
    repeats=2,
    prompt=12,
    new_tokens=100,
    dtype="float32",
)
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bench of the tiny shape."""
    folder = tmp_path_factory.mktemp("bench")
    measure(TINY, folder, "cpu")
    return folder


def test_all_arms_are_measured_in_turns(folder: Path) -> None:
    measured = json.loads((folder / "bench.json").read_text())
    results = measured["results"]
    found = [
        (result["asks"], result["decoder"], result["rows"], result["ratio"]) for result in results
    ]
    once = [
        ("equal rows", decoder, rows, ratio)
        for rows in (1, 2)
        for decoder in ("loop", "slots")
        for ratio in (None, "0.1")
    ] + [("equal memory", "slots", 3, None), ("equal memory", "slots", 5, "0.1")]
    assert found == [*once, *reversed(once)]
    assert [result["repeat"] for result in results] == [0] * 10 + [1] * 10
    for result in results:
        full = result["ratio"] is None
        # The last token that is drawn is never put to the cache.
        assert result["peak_tokens"] == (111 if full else 60)
        # After the first prune at 60, 15 tokens stay; 45 further ones fill it, 51 in all come.
        assert result["prunes"] == (0 if full else 2)
        assert result["kv_computed"] == result["rows"] * result["peak_tokens"] * TOKEN
        slots = (112 if full else 64) if result["decoder"] == "slots" else result["peak_tokens"]
        assert result["kv_measured"] == result["rows"] * slots * TOKEN
        assert result["seconds"] > result["compaction"] >= 0
        assert (result["compaction"] > 0) != full
        assert result["peak_allocated"] is None
    assert {"commit", "packages", "platform", "gpu", "gpu_state"} <= measured.keys()


def test_warm_up_goes_through_a_prune(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once per decoder and rows, before the first measurement there."""
    begun: list[tuple[str, int, bool, int | None]] = []
    prunes: list[int] = []
    timed = bench_run.Measuring.timed

    def noted(self: Any, arm: Arm, new_tokens: int | None = None) -> Any:
        begun.append((arm.decoder, arm.rows, arm.budget is None, new_tokens))
        found = timed(self, arm, new_tokens)
        if new_tokens is not None:
            prunes.append(found.prunes)
        return found

    monkeypatch.setattr(bench_run.Measuring, "timed", noted)
    measure(replace(TINY, rows=(2,), cache_bytes=None, repeats=1), tmp_path, "cpu")
    assert begun == [
        (decoder, 2, full, tokens)
        for decoder in ("loop", "slots")
        for full, tokens in ((False, 100), (True, None), (False, None))
    ]
    assert all(prunes)


def test_run_goes_on_with_what_is_missing(folder: Path, tmp_path: Path) -> None:
    content = json.loads((folder / "bench.json").read_text())
    first = content["results"][0]
    content["results"] = content["results"][:-2]
    (tmp_path / "bench.json").write_text(json.dumps(content))
    reported: list[dict[str, Any]] = []
    again = measure(TINY, tmp_path, "cpu", reported.append)
    assert [(result["rows"], result["ratio"], result["repeat"]) for result in reported] == [
        (1, "0.1", 1),
        (1, None, 1),
    ]
    assert again["results"][0] == first
    with pytest.raises(SettingsDiffer) as refused:
        measure(replace(TINY, rows=(3,)), tmp_path, "cpu")
    assert "settings.rows" in refused.value.message
    (tmp_path / "bench.json").write_text('{"format": 1}')
    with pytest.raises(CannotRun, match=r"what bench_kv\.py wrote"):
        measure(TINY, tmp_path, "cpu")


def test_arms_take_turns() -> None:
    first, second = (Arm("equal rows", "slots", rows, None) for rows in (1, 2))
    assert list(in_turns([first, second], 3)) == [
        (0, first),
        (0, second),
        (1, second),
        (1, first),
        (2, first),
        (2, second),
    ]


# --- tables ---------------------------------------------------------------------------------------


def record_of(*results: dict[str, Any]) -> dict[str, Any]:
    common = {"attention": "varlen", "compaction": 0.5, "prunes": 11, "peak_allocated": 5}
    common |= {"peak_reserved": 6, "kv_computed": 2**30, "kv_measured": 2**31}
    return {
        "settings": {
            "shape": "r1-qwen",
            "new_tokens": 1000,
            "dtype": "bfloat16",
            "prompt": 220,
            "trigger": 5000,
        },
        "gpu": {"name": "H100", "driver": "550"},
        "gpu_state": {"clocks.sm": "1980 MHz", "power.limit": "700.00 W"},
        "left_out": [
            {"decoder": "loop", "rows": 64, "ratio": None, "bytes": 83 * 2**30},
        ],
        "results": [common | result for result in results],
    }


FULL = {"asks": "equal rows", "decoder": "slots", "rows": 20, "local_window": None, "ratio": None}
PRUNED = FULL | {"local_window": 2000, "ratio": "0.3"}
MEMORY = {"asks": "equal memory"}


def test_tables_answer_two_questions() -> None:
    record = record_of(
        *(FULL | {"seconds": seconds} for seconds in (30.0, 28.0, 29.0)),
        *(PRUNED | {"seconds": seconds} for seconds in (20.0, 21.0, 19.0)),
        FULL | MEMORY | {"rows": 60, "seconds": 40.0},
        PRUNED | MEMORY | {"rows": 200, "seconds": 50.0},
    )
    assert compared(record) == [
        "Latency at equal rows: median of the repeats (smallest to largest)",
        "decoder  rows  window  ratio  ms per step               full/pruned  KV GiB",
        "  slots    20    full           29.00 ( 28.00 to 30.00)         1.00  2.00",
        "  slots    20    2000    0.3    20.00 ( 19.00 to 21.00)         1.45  2.00",
        "Throughput at equal memory",
        "decoder  rows  window  ratio  tokens per second  pruned/full  KV GiB",
        "  slots    60    full                   1,500.0         1.00  2.00",
        "  slots   200    2000    0.3            4,000.0         2.67  2.00",
        "Not measured: loop, 64 rows of the full cache need 83.0 GiB",
    ]
    lines = list(csv.DictReader(as_csv(summary(record)).decode().splitlines()))
    assert lines[1] == {
        "model": "r1-qwen",
        "asks": "equal rows",
        "decoder": "slots",
        "rows": "20",
        "local_window": "2000",
        "ratio": "0.3",
        "attention": "varlen",
        "dtype": "bfloat16",
        "prompt": "220",
        "new_tokens": "1000",
        "trigger": "5000",
        "repeats": "3",
        "ms_per_step": "20.0",
        "ms_per_step_min": "19.0",
        "ms_per_step_max": "21.0",
        "tokens_per_second": "1000.0",
        "seconds": "20.0",
        "peak_allocated": "5",
        "peak_reserved": "6",
        "kv_computed": str(2**30),
        "kv_measured": str(2**31),
        "prunes": "11",
        "compaction_share": "0.025",
        "gpu": "H100",
        "driver": "550",
        "clocks.sm": "1980 MHz",
        "power.limit": "700.00 W",
    }


def test_clocks_and_power_limit_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def output(*command: str) -> str | None:
        asked.append(command)
        return "345 MHz, 1980 MHz, 2619 MHz, 700.00 W\n345 MHz, 1980 MHz, 2619 MHz, 700.00 W"

    monkeypatch.setattr(runs, "_output", output)
    assert runs.gpu_state() == {
        "clocks.sm": "345 MHz",
        "clocks.max.sm": "1980 MHz",
        "clocks.mem": "2619 MHz",
        "power.limit": "700.00 W",
    }
    assert asked[0][0] == "nvidia-smi"
    monkeypatch.setattr(runs, "_output", lambda *command: None)
    assert runs.gpu_state() is None


# --- computed -------------------------------------------------------------------------------------

CELLS = [
    Budget(window, Decimal(ratio), 5000)
    for window, ratio in ((500, "0.1"), (2000, "0.3"), (3000, "0.5"))
]


@pytest.mark.parametrize(("shape", "times"), [("r1-qwen", 17), ("r1-llama", 11)])
def test_page_states_the_computed_limits(shape: str, times: int) -> None:
    """The table of the page, row by row, and what its text says of it."""
    config = config_of(shape)
    assert copying_traffic(config) == times
    roofline = Roofline.of(config, 2)
    caches = [mean_cache(220, 16_384, budget) for budget in CELLS]
    full = mean_cache(220, 16_384, None)
    assert full == 220 + (16_384 + 1) / 2
    text = Path(page("bench_kv").__file__ or "").read_text()
    place = {"r1-qwen": 1, "r1-llama": 3}[shape]
    for rows in (5, 20, 64):
        [line] = [line for line in text.splitlines() if line.startswith(f"# | {rows} |")]
        cells = [cell.strip() for cell in line.split("|")[2:6]]
        for traffic, cell in zip((1, times), cells[place - 1 : place + 1], strict=True):
            gains = roofline.gain(rows, full, caches, traffic)
            assert cell in ("", ", ".join(f"{gain:.2f}" for gain in gains))
    assert cells[place - 1]
    assert f"{16_604 / 5_001:.2f}" == "3.32"
    assert f"{16_604 / 2_900:.2f}" == "5.73"


@pytest.mark.parametrize(
    "bench", [Bench("r1-qwen"), Bench("r1-llama"), Bench("r1-qwen", rows=(20,))]
)
def test_page_states_the_hours(bench: Bench) -> None:
    [hours] = [line for line in plan_of(bench) if line.startswith("GPU time, an estimate: ")]
    text = Path(page("bench_kv").__file__ or "").read_text()
    assert hours.partition(": ")[2] in text


def test_real_shape_needs_a_gpu(tmp_path: Path) -> None:
    with pytest.raises(CannotRun) as refused:
        measure(Bench("r1-qwen"), tmp_path, "cpu")
    assert refused.value.message == (
        "the shape r1-qwen on a CPU\n"
        "  expected: a GPU: figures of a CPU say nothing about decoding on one\n"
        "  fix:      run it with --device cuda, or try it with --shape tiny --device cpu"
    )
    with pytest.raises(CannotRun, match="no GPU"):
        measure(Bench("r1-qwen"), tmp_path, "cuda")
    assert not (tmp_path / "bench.json").exists()


def test_arms_that_do_not_fit_are_left_out_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory for the weights and 1 row, not 2; less than that is refused."""
    bench = replace(TINY, cache_bytes=None, repeats=1, decoders=("loop",))
    full, pruned = (Arm("equal rows", "loop", 2, budget) for budget in (None, bench.budgets()[0]))
    between = (bench.needed(full) + bench.needed(pruned)) / 2 / USED
    monkeypatch.setattr(bench_run, "gpu_memory", lambda device: between)
    measured = measure(bench, tmp_path, "cpu")
    assert measured["left_out"] == [full.levels() | {"bytes": int(bench.needed(full))}]
    assert len(measured["results"]) == 3
    monkeypatch.setattr(bench_run, "gpu_memory", lambda device: 2**30)
    with pytest.raises(CannotRun) as refused:
        measure(bench, tmp_path / "none", "cpu")
    assert refused.value.message == (
        "the GPU has 1.0 GiB of memory\n"
        "  expected: 1.5 GiB for the smallest arm\n"
        "  fix:      use a larger GPU, or give --rows fewer"
    )


def test_command(tmp_path: Path) -> None:
    main = page("bench_kv").main
    arguments = ["--shape", "r1-llama", "--rows", "20", "--rows", "64", "--dry-run"]
    result = CliRunner().invoke(main, arguments)
    assert result.output == (
        "8 arms, 5 repeats each, 16,384 steps per repeat\n"
        "69.1 GiB of GPU memory for the largest arm\n"
        "GPU time, an estimate: 13 h 25 min\n"
        "Doesn't fit into 80 GB: loop, 64 rows of the full cache\n"
        "Doesn't fit into 80 GB: slots, 64 rows of the full cache\n"
        "Computed limits on an H100 (3.35 TB/s), full/pruned latency at equal rows:\n"
        "rows  window  ratio  cache read once  read 11 times\n"
        "  20    2000    0.3             1.53           2.21\n"
        "  64    2000    0.3             1.92           2.32\n"
        "Peak KV memory, window 2000, ratio 0.3: 3.32 times less by the settings alone\n"
        "Throughput at equal memory, window 2000, ratio 0.3: 86 rows beside 26, "
        "at most 2.64 times more\n"
    )
    arguments = ["--shape", "tiny", "--device", "cpu", "--dtype", "float32", "--new-tokens", "40"]
    arguments += ["--trigger", "30", "--prompt", "8", "--local-window", "5", "--ratio", "0.1"]
    arguments += ["--rows", "2", "--repeats", "1"]
    done = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "Latency at equal rows" in done.output
    assert len((tmp_path / "bench.csv").read_text().splitlines()) == 1 + 4
    wrong = CliRunner().invoke(main, [*arguments, "--local-window", "30"])
    assert wrong.exit_code == 2
    assert "the local window 30 isn't smaller than the trigger 30" in wrong.output
