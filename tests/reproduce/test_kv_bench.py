"""Latency and memory: what is measured, and beside what; figures of tiny shapes say nothing."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from test_kv_sweep import page

from gridatlas.reproduce.kv.bench import Bench, compared, measure
from gridatlas.reproduce.runner.errors import CannotRun
from gridatlas.reproduce.runner.records import SettingsDiffer

TINY = Bench(
    "tiny",
    windows=(10, 20),
    ratios=(Decimal("0.1"), Decimal("0.5")),
    trigger=60,
    batch=2,
    prompt=12,
    new_tokens=100,
    dtype="float32",
    warm_up=2,
)
BYTES = 2 * 2 * 2 * 8 * 4
"""Of one token: keys and values, layers, heads, their width, bytes per number."""


def test_full_cache_and_each_budget_are_measured(tmp_path: Path) -> None:
    reported: list[dict[str, Any]] = []
    measured = measure(TINY, tmp_path, "cpu", reported.append)
    assert measured == json.loads((tmp_path / "bench.json").read_text())
    results = measured["results"]
    assert reported == results
    cells = [(result["local_window"], result["ratio"]) for result in results]
    assert cells == [(None, None), (10, "0.1"), (10, "0.5"), (20, "0.1"), (20, "0.5")]
    # The last token that is drawn is never put to the cache.
    assert [result["peak_kv_tokens"] for result in results] == [111, 60, 60, 60, 60]
    assert [result["peak_kv_bytes"] for result in results] == [
        2 * n * BYTES for n in (111, 60, 60, 60, 60)
    ]
    assert [result["budget"] for result in results] == [None, 15, 35, 24, 40]
    # After the first prune at 60, each takes 60 − budget further tokens, 51 in all.
    assert [result["prunes"] for result in results] == [0, 2, 3, 2, 3]
    for result in results:
        assert result["seconds"] > 0
        assert result["ms_per_token"] == pytest.approx(1000 * result["seconds"] / 100, abs=1e-5)
        assert result["tokens_per_second"] == pytest.approx(200 / result["seconds"], rel=1e-3)
        assert result["peak_gpu_bytes"] is None
    assert measured["settings"]["trigger"] == 60
    assert {"commit", "packages", "platform", "gpu"} <= measured.keys()


def test_run_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    measure(TINY, tmp_path, "cpu")
    path = tmp_path / "bench.json"
    content = json.loads(path.read_text())
    first = content["results"][0]
    content["results"] = [first]
    path.write_text(json.dumps(content))
    reported: list[dict[str, Any]] = []
    again = measure(TINY, tmp_path, "cpu", reported.append)
    assert len(reported) == 4
    assert again["results"][0] == first
    with pytest.raises(SettingsDiffer) as refused:
        measure(Bench(**{**_fields(TINY), "batch": 3}), tmp_path, "cpu")
    assert "settings.batch" in refused.value.message


def _fields(bench: Bench) -> dict[str, Any]:
    return {name: getattr(bench, name) for name in bench.__dataclass_fields__}


def test_table_compares_with_the_full_cache() -> None:
    full = {"local_window": None, "ratio": None, "budget": None, "seconds": 10.0}
    full |= {"ms_per_token": 20.0, "peak_kv_bytes": 2**31}
    pruned = {"local_window": 500, "ratio": "0.1", "budget": 950, "seconds": 4.0}
    pruned |= {"ms_per_token": 8.0, "peak_kv_bytes": 2**29}
    assert compared([full, pruned]) == [
        "window  ratio  budget  ms/token  latency  peak KV",
        "  full                    20.00        1  2.00 GiB",
        "   500    0.1     950      8.00    2.50×  4.00× less",
    ]
    assert compared([pruned]) == []


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


def test_too_little_memory_is_told_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gridatlas.reproduce.kv.bench.free_memory", lambda device: 1.5 * 2**30)
    with pytest.raises(CannotRun, match=r"1\.5 GiB of GPU memory are free; the weights take"):
        measure(TINY, tmp_path, "cpu")


def test_command(tmp_path: Path) -> None:
    main = page("bench_kv").main
    result = CliRunner().invoke(main, ["--shape", "r1-llama", "--batch", "8", "--dry-run"])
    assert result.output == (
        "21 measurements: the full cache and 20 budgets\n"
        "344,064 steps of 8 tokens\n"
        "32.7 GiB of GPU memory: weights 15.0, full cache 16.2, spare 1.5\n"
    )
    arguments = ["--shape", "tiny", "--device", "cpu", "--dtype", "float32", "--new-tokens", "40"]
    arguments += ["--trigger", "30", "--prompt", "8", "--local-window", "5", "--ratio", "0.1"]
    done = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "  full" in done.output
    wrong = CliRunner().invoke(main, [*arguments, "--local-window", "30"])
    assert wrong.exit_code == 2
    assert "the local window 30 isn't smaller than the trigger 30" in wrong.output
