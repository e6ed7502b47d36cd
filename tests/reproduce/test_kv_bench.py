"""The bench runs whole on a CPU; its figures say nothing there, its tables and checks do."""

import json
import re
from dataclasses import replace
from decimal import Decimal

import pytest
from click.testing import CliRunner
from test_kv_sweep import SCRIPTS, page

from gridatlas_reproduce.kv.bench import (
    PROMPT,
    Bench,
    config_of,
    measure,
    measured_step,
    read_bench,
    steps_of,
    tables,
)
from gridatlas_reproduce.kv.cost import COPIED, least_seconds, mean_cache
from gridatlas_reproduce.kv.selection import Budget
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.records import SettingsDiffer

TINY = Bench("tiny", "float32", rows=(1, 3), caches=(64, 128), steps=5, seconds=0.3)
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    measure(TINY, folder, "cpu")
    return folder


def part(record, name):
    [found] = [each for each in record["results"] if each["part"] == name]
    return dict(found)


def test_all_parts_are_measured(folder):
    record = read_bench(folder)
    assert (record["missing"], record["left_out"]) == (0, [])
    assert record["varlen"] == "it isn't there for cpu and float32"
    steps = steps_of(record)
    assert {arm: {rows: [*by] for rows, by in found.items()} for arm, found in steps.items()} == {
        arm: {1: [64, 128], 3: [64, 128]} for arm in ("dynamic", "grouped")
    }
    assert all(ms > 0 for arm in steps.values() for by in arm.values() for ms in by.values())
    error = part(record, "error")
    for path in ("slots", "unbatched"):
        assert error[f"{path}_error"] < 1e-5 * error["largest_logit"]
        assert error[f"{path}_argmax_equal"] == 1
    neighbours = part(record, "neighbours")
    assert neighbours["equal_bitwise"] == neighbours["tokens"] == 5
    assert set(part(record, "prune")) == {"part", "prune_ms", "fork_ms"}
    scheduler = part(record, "scheduler")
    assert 0 < scheduler["busy"] <= 1
    assert sum(scheduler[key] for key in ("forks", "prunes", "prefills")) < 1


def test_it_goes_on_piece_by_piece(folder, tmp_path):
    worded = []
    missing = []
    while not missing or missing[-1]:
        missing.append(measure(TINY, tmp_path, "cpu", worded.append, minutes=0)["missing"])
    assert missing == list(range(11, -1, -1))
    assert worded.count("varlen_attn can't be taken: it isn't there for cpu and float32") == 12
    with pytest.raises(SettingsDiffer) as refused:
        measure(replace(TINY, rows=(2,)), tmp_path, "cpu")
    assert "settings.rows" in refused.value.message
    (tmp_path / "bench.json").write_text("{}")
    with pytest.raises(CannotRun, match=r"bench\.json can't be read"):
        measure(TINY, tmp_path, "cpu")


def made(**steps):
    """A record with these milliseconds by arm, rows and cache."""
    results = [
        {"part": "step", "arm": arm, "rows": rows, "cache": cache, "repeat": 0, "ms": ms}
        for arm, by_rows in steps.items()
        for rows, by_cache in by_rows.items()
        for cache, ms in by_cache.items()
    ]
    return {
        "settings": {"shape": "r1-qwen", "dtype": "float16", "caches": [1000, 5000]},
        "gpu": {"name": "NVIDIA H100"},
        "varlen": "right",
        "missing": 0,
        "results": [*results, {"part": "scheduler", "busy": 0.9}],
    }


def test_tables_compare_whole_answers_and_name_the_device():
    record = made(varlen={20: {1000: 11, 5000: 15}, 60: {1000: 20, 5000: 40}})
    # A step takes 10 ms + 1 ms per 1,000 tokens at 20 rows.
    full = 10 + mean_cache(PROMPT, 16_384, None) / 1000
    pruned = 10 + mean_cache(PROMPT, 16_384, Budget(2000, Decimal("0.3"), 5001)) / 1000
    assert tables(record) == [
        "r1-qwen, float16, on NVIDIA H100. varlen_attn: right.",
        "",
        "| arm | rows | 1,000 | 5,000 | full/pruned |",
        "|---|---:|---:|---:|---:|",
        f"| varlen | 20 | 11.00 | 15.00 | {full / pruned:.2f} |",
        "| varlen | 60 | 20.00 | 40.00 | 1.75 |",
        "- scheduler: busy 0.9",
    ]
    found = measured_step(record, 40, 3000)
    assert found == (pytest.approx((13 + 30) / 2 / 1000), 0.9, "NVIDIA H100")
    with pytest.raises(CannotRun, match="the bench has too few points"):
        measured_step(made(varlen={20: {1000: 11}}), 40, 3000)


def test_hours_are_taken_from_the_bench(tmp_path):
    steps = {rows: {1000: 20.0, 5000: 20.0} for rows in (100, 200)}
    (tmp_path / "bench.json").write_text(
        json.dumps({"format": 3, "packages": {}} | made(varlen=steps))
    )
    given = ["--model", "r1-qwen", "--benchmark", "aime24", "--dry-run"]
    done = CliRunner().invoke(page("kv_sweep").main, [*given, "--bench", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert (
        "per second (assumed: 11,000 tokens per answer; measured on NVIDIA H100: 20.0 ms for a step"
        " with 90% of the rows busy)"
    ) in done.output
    assert f"{0.9 * 196 / 0.02:,.0f} per second" in done.output


def test_the_page_has_the_computed_limits():
    text = (SCRIPTS / "bench_kv.py").read_text()
    budgets = [
        Budget(window, Decimal(ratio), 5001)
        for window, ratio in ((500, "0.1"), (2000, "0.3"), (3000, "0.5"))
    ]
    full = mean_cache(PROMPT, 16_384, None)
    pruned = [mean_cache(PROMPT, 16_384, budget) for budget in budgets]
    for rows in (5, 20, 64):
        cells = [
            ", ".join(
                f"{least_seconds(*given, full, moved) / least_seconds(*given, cache, moved):.2f}"
                for cache in pruned
            )
            for given in ((config_of(shape), 2, rows) for shape in ("r1-qwen", "r1-llama"))
            for moved in (1, COPIED)
        ]
        assert f"# | {rows} | {' | '.join(cells)} |\n" in text


def test_dry_run_says_what_it_takes():
    done = CliRunner().invoke(
        page("bench_kv").main, ["--shape", "r1-llama", "--quick", "--dry-run"]
    )
    assert done.exit_code == 0, done.output
    [minutes] = re.findall(r"GPU time, an estimate: (\d+) min", done.output)
    assert int(minutes) < 30
    assert re.search(r"^\d+ of 120 points fit into 80 GB, 50 steps each", done.output)


def test_real_shape_on_a_cpu_is_refused(tmp_path):
    with pytest.raises(CannotRun, match="the shape r1-qwen on a CPU"):
        measure(Bench("r1-qwen"), tmp_path, "cpu")
