"""Tables as people publish them: leaderboards, units in cells, HTML, LaTeX, sections, sums."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from gridatlas.cli.main import main
from gridatlas_import.counts import spread_in
from gridatlas_import.frames import table_of_frame
from gridatlas_import.markup import without_marks, without_tags
from gridatlas_import.quantities import holds_number, spelled

BOARD = """\
model,Avg. WER,RTFx,Size (B),License,Cafe WER,Office WER,Street WER,Car WER
alpha,6.1,520.1,2,Open,8.1,4.2,6.5,5.6
beta,5.5,-1,-1,Closed,7.3,3.9,5.7,5.1
gamma,7.9,90.4,1.5,Open,9.8,6.6,8.1,7.1
"""
UNITS = """\
# Links

| Program | ld.a | ld.b | ld.c |
|---------|------|------|------|
| small   | 930ms | 1.2s | 410ms |
| middle  | 4.1s | 3.30s | 1.15s |
| large   | N/A | 7.4s | 2.85s |
"""
HTML = """\
<h2>Detectors, AP</h2>
<table>
<tr><th rowspan="2">Backbone</th><th colspan="2">day<br/>light</th><th colspan="2">night</th></tr>
<tr><th>short</th><th>long</th><th>short</th><th>long</th></tr>
<tr><td colspan="5"><b>Convolutions</b></td></tr>
<tr><td><a href="a">C50</a></td><td>35.7</td><td>38.4<sup>1</sup></td><td>25.7</td>
<td>28.4</td></tr>
<tr><td>C101</td><td><b>39.1</b></td><td>41.1</td><td>-</td><td>31.1</td></tr>
<tr><td>Average</td><td>37.4</td><td>39.75</td><td>25.7</td><td>29.75</td></tr>
</table>
"""
LATEX = r"""
\begin{table} \caption{Accuracy (\%), mean $\pm$ standard deviation over 5 seeds.}
\begin{tabular}{llcc} \toprule
\multirow{2}{*}{Backbone} & \multirow{2}{*}{Method} & \multicolumn{2}{c}{Digits} \\
\cmidrule(lr){3-4}
 & & clean & noisy \\ \midrule % the body
\multirow{2}{*}{Small} & plain & 59.9 $\pm$ 0.4 & 55.5 $\pm$ 0.5 \\
 & mixed & \textbf{62.8} $\pm$ 0.4 & 58.2 $\pm$ 0.6 \\ \midrule
\multirow{2}{*}{Large} & plain & 68.2 $\pm$ 0.4 & 62.9 $\pm$ 0.5 \\
 & mixed & 70.8 $\pm$ 0.4 & -- \\ \bottomrule
\end{tabular} \end{table}
"""
LOAD = """\
benchmark,name,lines,duration
""" + "".join(
    f"{task},{tool},39,{base}.{at}{at + 3}7\n"
    for task in ("words", "lines", "bytes")
    for base, tool in enumerate(("fast", "slow"), 1)
    for at in range(3)
)
KEYED = json.dumps(
    {
        f"org/model-{at}": {
            "link": "https://example.org",
            "pass@1": {"easy": 81.7 - at, "hard": 40.5 - at},
            "size": at + 1.0,
        }
        for at in range(4)
    }
)  # fmt: skip
COUNTS = "model,task,correct,total\n" + "".join(
    f"{model},{task},{40 + 3 * at},{100 + 20 * (task == 'b')}\n"
    for at, (model, task) in enumerate((m, t) for m in "xyz" for t in "ab")
)
NOTED = """\
# Rig 2

Device,matmul,conv
one,1.5 TFLOPS,2.5 TFLOPS
two,1.9 TFLOPS,2.9 TFLOPS
three,2.9 TFLOPS,3.9 TFLOPS
Measured at night.
"""
SHOTS = """\
| Model | A-Eval | Sums | Code |
|-------|--------|------|------|
|       | 5-shot | 8-shot | 0-shot |
| a-7b  | 46.8   | 16.7 | 12.8 |
| b-7b  | 55.0   | 29.6 | ----- |
| c-7b  | 62.6   | 42.2 | 22.6 |
"""
STACKED = """\
Model,Task,acc
small,one,0.51
,two,0.52
large,one,0.61
,two,0.62
"""
VARIANTS = """\
### Write and read speed

| Crate | Write | Read | Peek | Size |
|---|--:|--:|--:|--:|
| one | *443.14 µs\\** *418.68 µs\\** | 3.16 ms | 59.9 µs | 804955 |
| two | 513.6 us | 2.16 ms | † | 1045784 |
| three | 140.9 µs | *1.5 ms\\** | 49.9 µs | 703710 |
"""
TREE = json.dumps({"host": "a", "sets": {
    name: {"crates": {
        crate: {"benches": {
            "write": {"Nanos": {"primary": at + 40.5, "variants": {}}},
            "read": {"Nanos": {"primary": None if at == 1 else at + 20.5, "variants": {"a": 1.5}}},
            "size": {"Bytes": {"primary": at * 100, "variants": {}}},
        }} for at, crate in enumerate(("one", "two"))
    }} for name in ("log", "mesh")
}})  # fmt: skip


def proposed(folder: Path, name: str, text: str, *options: str) -> dict[str, Any]:
    (folder / name).write_text(text, "utf-8")
    command = ["import", str(folder / name), "--dry-run", "--format", "json", *options]
    answer: dict[str, Any] = json.loads(CliRunner().invoke(main, command).output)
    return answer


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("board.csv", BOARD,
         {"x": "columns", "y": "model", "better": "lower", "cells": 12,
          "columns": ["Cafe WER", "Office WER", "Street WER", "Car WER"]}),
        ("links.md", UNITS,
         {"x": "columns", "y": "Program", "better": "lower", "unit": "s", "cells": 8}),
        ("detectors.html", HTML, {"y": "Backbone", "better": "higher", "cells": 7}),
        ("paper.tex", LATEX, {"better": "higher", "unit": "%", "spread": ["±"], "cells": 7}),
        ("load.csv", LOAD,
         {"x": "benchmark", "y": "name", "metric": "duration", "repeats": ["rows"],
          "better": "lower"}),
        ("keyed.json", KEYED,
         {"x": "columns", "y": "model", "better": "higher",
          "columns": ["pass@1.easy", "pass@1.hard"]}),
        ("counts.csv", COUNTS, {"metric": "correct/total", "better": "higher", "cells": 6}),
        ("rig.csv", NOTED, {"x": "columns", "y": "Device", "unit": "TFLOPS", "better": "higher"}),
        ("stacked.csv", STACKED, {"x": "Model", "y": "Task", "cells": 4}),
        ("shots.md", SHOTS,
         {"y": "Model", "columns": ["A-Eval 5-shot", "Sums 8-shot", "Code 0-shot"]}),
        ("bare.csv", "c,sum,27.36\nc,fib,0.05\nlua,sum,40.5\nlua,fib,0.75\n",
         {"x": "column_1", "y": "column_2", "metric": "column_3", "cells": 4}),
        ("mixed.md", "| Model | Piqa | Lambada PPL | Winogrande | Hellaswag |\n|-|-|-|-|-|\n"
         "| a | 63.1% | 30.2 | 50.4% | 28.6% |\n| b | 64.2% | 18.6 | 52.0% | 33.7% |\n",
         {"columns": ["Piqa", "Winogrande", "Hellaswag"], "unit": "%"}),
        ("sorted.csv", "model,Reading,Sums,Rhymes,Average\n"
         + "".join(f"m{at},{61 - at}.5,{52 - at}.5,{41 - at}.5,{51 - at}.5\n" for at in range(5)),
         {"y": "model", "better": "higher"}),
        ("rising.csv", "model,Reading,Sums,Rhymes,Average\n"
         + "".join(f"m{at},{41 + at}.5,{42 + at}.5,{31 + at}.5,{38 + at}.5\n" for at in range(5)),
         {"y": "model", "better": None}),
        ("leaders.csv", "model,Reading,Sums,Rhymes,Average\n"
         + "".join(f"m{at},{11 + at}.5,{12 + at}.5,{21 + at}.5,{15 + at}.5\n" for at in range(24)),
         {"y": "model", "better": "lower"}),
        ("panel.csv", "firm,year,output\n" + "".join(
            f"{firm},{year},{firm * 7 + year % 13}.{year % 7}\n"
            for firm in range(1, 7) for year in range(1935, 1940)),
         {"x": "year", "y": "firm"}),
        ("kernels.md", "| Kernel | 512 | 4096 |\n|-|-|-|\n" + "".join(
            f"| k{n} | {n * 2.5} GFLOPS | {n / 100} TFLOPS |\n" for n in (128, 512, 900)),
         {"x": "columns", "y": "Kernel", "unit": "GFLOPS", "better": "higher"}),
        ("threads.md", "| threads | test | t/s |\n|-|-|-|\n" + "".join(
            f"| {n} | {test} | {n}.5{n} |\n" for n in (1, 2, 4) for test in ("pp", "tg")),
         {"metric": "t/s", "name": "Throughput", "unit": "t/s", "better": "higher"}),
        ("keyed.csv", "lr,wd,seed,precision_macro,f1_macro,metric_key\n" + "".join(
            f"{lr},{wd},{seed},0.{lr}{seed}7,0.{wd}{seed}9,f1_macro\n"
            for lr in (1, 2) for wd in (3, 4) for seed in (5, 6)),
         {"metric": "f1_macro", "repeats": ["seed"]}),
        ("plots.csv", "id,kind,minute,pulse\n" + "".join(
            f"{at},{'ab'[at % 2]},{minute} min,{70 + at * minute % 13}\n"
            for at in range(8) for minute in (1, 15, 30)),
         {"metric": "pulse", "repeats": ["id"], "facets": []}),
        ("tasks.md", "| Task/Metric | a-7b | b-7b | c-7b |\n|-|-|-|-|\n" + "".join(
            f"| t{at}/acc | 0.{at}1 | 0.{at}2 | 0.{at}3 |\n" for at in range(1, 9))
         + "| Average | 0.45 | 0.55 | 0.65 |\n", {"cells": 24}),
        ("speeds.md", VARIANTS,
         {"x": "columns", "y": "Crate", "columns": ["Write", "Read", "Peek"], "unit": "µs",
          "better": "lower", "name": "Time"}),
        ("disk.csv", "rw,bs,depth,iops\n" + "".join(
            f"{rw},{bs},{depth},{at}{depth}07\n" for rw in ("read", "write")
            for at, bs in enumerate(("4k", "64k", "1m"), 1) for depth in (1, 8)),
         {"metric": "iops", "better": "higher", "cells": 12}),
        ("lexers.md", "| Library | 1 thread | 4 threads |\n|-|-|-|\n"
         "| one | 812 MB/s | 3.1 GB/s |\n| two | 640 MB/s | 2.4 GB/s |\n"
         "| x | 210 MB/s | 0.8 GB/s |\n",
         {"columns": ["1 thread", "4 threads"], "unit": "MB/s", "better": "higher", "cells": 6}),
        ("jmh.json", json.dumps([
            {"benchmark": f"org.acme.MapBench.{what}", "params": {"impl": impl, "size": size},
             "primaryMetric": {"score": at + size / 7, "scoreError": 0.5 + at / 8,
                               "scoreUnit": "ns/op"}}
            for at, what in enumerate(("get", "put")) for impl in "ab" for size in (10, 1000)]),
         {"metric": "primaryMetric.score", "only": {}, "unit": "ns/op", "better": "lower",
          "name": "Time"}),
        ("trials.csv", "params_lr,params_depth,value\n" + "".join(
            f"{lr},{depth},0.{depth}{at}37\n" for at, lr in enumerate((0.1, 0.01))
            for depth in (2, 4, 6)),
         {"labels": {"params_lr": "Learning rate", "params_depth": "depth"}}),
        ("tree.json", TREE,
         {"x": "sets", "y": "crates", "facets": ["benches"], "metric": "primary", "unit": "ns",
          "better": "lower", "cells": 6}),
        ("units.csv", "bench,threads,value,unit\nsort,1,1500,us\nsort,2,0.9,ms\n"
         "scan,1,300,us\nscan,2,170,us\n",
         {"metric": "value", "unit": "µs", "better": "lower", "name": "Time"}),
        ("packers.md", "| Packer | Ratio | Compression | Decompression |\n|-|-|-|-|\n" + "".join(
            f"| p{at} | {at}.1 | {at * 70} MB/s | {at * 390} MB/s |\n" for at in range(1, 6)),
         {"columns": ["Compression", "Decompression"], "y": "Packer", "unit": "MB/s"}),
        ("devices.md", "TFLOPS\n\n| machine | fp32 | fp64 | tf32 |\n|-|-|-|-|\n" + "".join(
            f"| d{at} | {at}1.5 | {at}0.52 | {at}4.9 |\n" for at in range(1, 5)),
         {"unit": "TFLOPS", "name": "Throughput", "better": "higher"}),
        ("libraries.md", "| Library | compact (ms) | pretty (ms) |\n|-|-|-|\n"
         "| one | 0.01 | 0.02 |\n| two | 0.13 | 0.54 |\n",
         {"roles": {"Library": "choice", "columns": "condition"}}),
        ("task_names.md", "| Task Name | Kim | Lee | Max |\n|-|-|-|-|\n" + "".join(
            f"| t{at} | {40 + at}.5 | {30 + at}.5 | {50 + at}.5 |\n" for at in range(4)),
         {"roles": {"Task Name": "block", "columns": "choice"}}),
        ("cards.md", "| Model | Mode | Size | 3090Ti | 4090 |\n|-|-|-|-|-|\n" + "".join(
            f"| {model} | {mode} | {size}B | {at}31 t/s | {at}57 t/s |\n"
            for at, (model, mode, size) in enumerate(
                [("a", "q", 7), ("a", "q", 13), ("b", "r", 7), ("c", "r", 3), ("a", "r", 7)], 1)),
         {"roles": {"Model + Mode + Size": "block", "columns": "choice"}}),
        ("footprints.md", "| Model | len 1k | len 4k |\n|-|-|-|\n| a | 6.22G | 7.4G |\n"
         "| b | 900.5M | 1.25G |\n", {"y": "Model", "unit": "G", "cells": 4}),
        ("cuts.md", "| Model | Size | Pets Top1 Acc | Pets Top5 Acc |\n|-|-|-|-|\n" + "".join(
            f"| {model} | {size} | 8{at}.{size[0]} | 9{at}.{size[0]} |\n"
            for at, model in enumerate("abc", 1) for size in ("24px", "32px")),
         {"x": "Model", "y": "Size", "metric": "Pets Top1 Acc", "better": "higher"}),
        ("lines.md", "| Method | A set | A set | B set | B set |\n|-|-|-|-|-|\n"
         "| | Acc | Time | Acc | Time |\n| one | 61.5 | 12.1 | 71.5 | 14.0 |\n"
         "| two | 63.5 | 13.1 | 74.5 | 15.0 |\n| three | 66.5 | 17.1 | 77.5 | 19.0 |\n",
         {"columns": ["A set / Acc", "B set / Acc"], "better": "higher", "cells": 6}),
        ("visits.csv", ",arm,sex,mood.pre,mood.2m,mood.4m\n" + "".join(
            f"{at},{'ab'[at % 2]},{'fm'[at // 2 % 2]},{20 + at % 7},{15 + at % 5},{11 + at % 6}\n"
            for at in range(1, 33)),
         {"columns": [f"mood.{when}" for when in ("pre", "2m", "4m")], "name": "Mood",
          "repeats": ["column_1"]}),
        ("sized.md", "| | | 0-shot | 5-shot |\n|-|-|-|-|\n| a | 7B | 14.6 | 23.0 |\n"
         "| b | 13B | 16.1 | 24.5 |\n| c | 65B | 18.6 | 31.5 |\n| c | 30B | 17.6 | 30.5 |\n",
         {"y": "row", "cells": 8}),
        ("kinds.md", "| Model | Metric | 4K | 8K |\n|-|-|-|-|\n| a | Recall | 95.5 | 93.8 |\n"
         "| a | Drift | 0.7 | 0.6 |\n| b | Recall | 93.6 | 91.2 |\n| b | Drift | 0.8 | 0.5 |\n",
         {"only": {"Metric": "Recall"}, "better": "higher", "cells": 4}),
        ("above.md", "### Compliance (%)\n\n| Run | arc | boolq | piqa |\n|-|-|-|-|\n"
         "| a | 91.6 | 74.2 | 63.5 |\n| b | 93.5 | 75.2 | 57.3 |\n",
         {"name": "Compliance", "unit": "%"}),
        ("days.md", "| Model | Code | Time |\n|-|-|-|\n| a | own | 20.0 min |\n"
         "| a | lib | 1.5 days |\n| b | own | 2.5 days |\n| b | lib | 4.7 days |\n",
         {"metric": "Time", "unit": "d", "better": "lower"}),
        ("overlaps.md", "| configuration | reach | deep | NDCG low-overlap | NDCG high-overlap |\n"
         "|-|-|-|-|-|\n| a | 100% | 3 | 0.08 | 0.23 |\n| b | 99% | 4 | 0.07 | 0.18 |\n"
         "| c | 98% | 5 | 0.13 | 0.24 |\n", {"y": "configuration", "better": "higher", "cells": 6}),
        ("runs.csv", "lr,run_seed,val_loss\n" + "".join(
            f"0.0{x + 1},{s},{3 - 0.1 * x + 0.07 * s:.2f}\n" for x in range(4) for s in range(6)),
         {"x": "lr", "repeats": ["run_seed"]}),
        ("speed.csv", ",Expt,Run,Speed\n" + "".join(
            f"{at},{at // 12 + 1},{at % 12 + 1},{700 + at * 37 % 91}\n" for at in range(48)),
         {"x": "Expt", "repeats": ["Run"]}),
        ("silent.csv", "lr,bs,S\n1,1,5.5\n1,2,6.5\n2,1,7.5\n2,2,8.5\n", {"better": None}),
    ],
)  # fmt: skip
def test_published_tables_are_read_as_people_read_them(
    tmp_path: Path, name: str, text: str, expected: dict[str, Any]
) -> None:
    answer = proposed(tmp_path, name, text)
    assert {key: answer.get(key) for key in expected} == expected, answer


def test_many_constant_columns_are_one_line(tmp_path: Path) -> None:
    names = [f"setting_{at}" for at in range(9)]
    rows = (f"{lr},{size},0.{lr}{size},{','.join('7' * 9)}\n" for lr in (1, 2) for size in (4, 8))
    text = f"lr,batch_size,acc,{','.join(names)}\n" + "".join(rows)
    (tmp_path / "t.csv").write_text(text, "utf-8")
    result = CliRunner().invoke(main, ["import", str(tmp_path / "t.csv"), "--dry-run"])
    line = (
        "not read, as nothing varies in it: setting_0, setting_1, setting_2, setting_3, setting_4"
    )
    assert line in result.output
    assert "one level only" not in result.output


def test_a_frame_of_polars_needs_neither_pandas_nor_pyarrow() -> None:
    class Frame:
        columns = ("lr", "batch_size", "acc")

        def iter_rows(self) -> list[tuple[float | None, ...]]:
            return [(0.1, 16, 0.5), (0.1, 32, 0.6), (0.2, 16, None), (0.2, 32, float("nan"))]

    table = table_of_frame(Frame())
    assert dict(table.columns) == {
        "lr": ("0.1", "0.1", "0.2", "0.2"),
        "batch_size": ("16", "32", "16", "32"),
        "acc": ("0.5", "0.6", "", ""),
    }


def test_headings_with_gaps_alone_have_no_unit(tmp_path: Path) -> None:
    answer = proposed(tmp_path, "t.csv", "model,task,1,2\na,x,-,-\na,y,-,-\nb,x,-,-\nb,y,-,-\n")
    assert "refused" in answer or answer["unit"] == ""


def test_measured_numbers_are_no_axis(tmp_path: Path) -> None:
    rows = (f"pack{at},2.{887 - 31 * at},{97 + 53 * at} MB/s\n" for at in range(8))
    text = "packer,ratio,speed\n" + "".join(rows)
    assert "there is one row per packer" in proposed(tmp_path, "t.csv", text)["refused"]


def test_the_proposal_has_roles_unit_and_name(tmp_path: Path) -> None:
    settings = [(lr, size, seed) for lr in (1, 2) for size in (4, 8) for seed in (1, 2)]
    rows = (f"{lr},{size},{seed},{lr}{size}.{seed}\n" for lr, size, seed in settings)
    text = "lr,batch_size,seed,mean_ttft_ms\n" + "".join(rows)
    answer = proposed(tmp_path, "t.csv", text)
    assert answer["roles"] == {"lr": "choice", "batch_size": "choice", "seed": "replicate"}
    assert (answer["unit"], answer["name"]) == ("ms", "Mean TTFT")
    assert answer["labels"] == {"lr": "Learning rate"}


def test_what_is_no_row_is_reported(tmp_path: Path) -> None:
    (tmp_path / "t.html").write_text(HTML, "utf-8")
    result = CliRunner().invoke(main, ["import", str(tmp_path / "t.html"), "--dry-run"])
    assert 'left out: a title: "Convolutions": t.html:5' in result.output
    assert 'left out: sums up others: "Average": t.html:9' in result.output


def test_a_censored_value_is_a_gap_with_its_words(tmp_path: Path) -> None:
    second = ["15.5", "25.5", "< 5%", "45.5", "55.5", "65.5"]
    rows = (f"m{at},5{at}.5,{text},7{at}.1\n" for at, text in enumerate(second))
    text = "model,arith,logic,dates\n" + "".join(rows)
    (tmp_path / "t.csv").write_text(text, "utf-8")
    command = ["import", str(tmp_path / "t.csv"), "--yes", "--data", str(tmp_path / "data")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    assert "m2,logic,,“< 5%” in the source" in (tmp_path / "data/t/cells.csv").read_text("utf-8")


@pytest.mark.parametrize(
    ("headings", "label", "stacked"),
    [
        (("crime", "poverty", "language"), "", False),
        (("rural male", "rural female", "urban male"), "", True),
        (("crime", "poverty", "language"), "Model", True),
        (("xgb", "h2o", "catboost"), "", True),
    ],
)
def test_headings_are_levels_where_something_says_that_they_are_of_one_kind(
    tmp_path: Path, headings: Sequence[str], label: str, stacked: bool
) -> None:
    lines = [",".join((label, *headings))]
    lines += [f"r{at},{at * 7 + 9}.1,{70 - at * 6}.5,{at * at + 20}.3" for at in range(9)]
    answer = proposed(tmp_path, "rows.csv", "\n".join(lines))
    assert (answer.get("columns") == [*headings]) is stacked, answer


@pytest.mark.parametrize("option", [("--columns", "Cafe WER,Car WER"), ("--ignore", "Street WER")])
def test_headings_are_chosen(tmp_path: Path, option: tuple[str, str]) -> None:
    answer = proposed(tmp_path, "t.csv", BOARD, *option)
    expected = {
        "--columns": ["Cafe WER", "Car WER"],
        "--ignore": ["Cafe WER", "Office WER", "Car WER"],
    }
    assert answer["columns"] == expected[option[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("🟢GEMV", "GEMV"),
        ("12.5 (3rd)", "12.5"),
        ("[a](b) x<br/>y[^1]", "a x y"),
        ("[serde 1.0][serde]", "serde 1.0"),
        ("AP<sup>box</sup>", "AP box"),
        ("3.5<sup>1</sup>", "3.5"),
        ("&lt; 5&nbsp;%", "< 5 %"),
        ("🏆", "🏆"),
        ("a < b > c", "a < b > c"),
    ],
)
def test_cells_lose_what_only_decorates(text: str, expected: str) -> None:
    assert without_tags(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*1.5 ms\\**", "1.5 ms"),
        ("*4.1 µs\\** *3.5 µs\\**", "4.1 µs* 3.5 µs"),
        ("`a` **b** _c_", "a b c"),
        ("snake\\_case\\_name", "snake_case_name"),
        ("\\#Tasks", "#Tasks"),
    ],
)
def test_cells_of_markdown_lose_their_marks(text: str, expected: str) -> None:
    assert without_marks(text) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("TFlops", "TFLOPS"),
        ("TFLops", "TFLOPS"),
        ("GFLOP/s", "GFLOPS"),
        ("kflops", "kFLOPS"),
        ("tflop/s", "TFLOPS"),
        ("us", "µs"),
        ("tokens/sec", "t/s"),
        ("MB/s", "MB/s"),
    ],
)
def test_units_have_one_spelling(given: str, expected: str) -> None:
    assert spelled(given) == expected
    assert holds_number(f"3.5 {given}")
    assert not holds_number(f"3.5e{'9' * 40} {given}")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tokens_per_s", {"name": "Throughput", "unit": "t/s", "better": "higher"}),
        ("tokens_per_seconds", {"name": "Throughput", "unit": "t/s", "better": "higher"}),
        ("Requests per second", {"name": "Throughput", "unit": "requests/s", "better": "higher"}),
        ("GB per s", {"name": "Throughput", "unit": "GB/s", "better": "higher"}),
        ("decode_images_per_sec", {"unit": "images/s", "better": "higher"}),
        ("ms_per_token", {"name": "Time", "unit": "ms/token", "better": "lower"}),
        ("time_per_step_ms", {"unit": "ms", "better": "lower"}),
        ("usd_per_hour", {"name": "Usd per hour", "unit": "", "better": None}),
        ("samples_per_min", {"unit": "", "better": None}),
    ],
)
def test_what_a_rate_is_divided_by_is_not_its_unit(
    tmp_path: Path, name: str, expected: dict[str, str | None]
) -> None:
    cells = (f"{e},{b},{100 + 7 * b + 3 * at}.5" for at, e in enumerate("xyz") for b in (1, 2, 4))
    text = "\n".join([f"engine,batch,{name}", *cells, ""])
    (tmp_path / "t.csv").write_text(text, "utf-8")
    command = ["import", str(tmp_path / "t.csv"), "--yes", "--data", str(tmp_path / "data")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    metric = yaml.safe_load((tmp_path / "data/t/study.yml").read_text("utf-8"))["metric"]
    # What isn't known isn't written.
    assert {key: metric.get(key) for key in expected} == {
        key: value or None for key, value in expected.items()
    }


def test_a_cell_with_several_values_is_a_gap_with_its_words(tmp_path: Path) -> None:
    (tmp_path / "t.md").write_text(VARIANTS, "utf-8")
    command = ["import", str(tmp_path / "t.md"), "--yes", "--data", str(tmp_path / "data")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    cells = (tmp_path / "data/t/cells.csv").read_text("utf-8")
    assert "one,Write,,“443.14 µs* 418.68 µs” in the source" in cells


def test_a_row_with_a_number_in_its_first_column_alone_is_no_title(tmp_path: Path) -> None:
    rows = "".join(f"0.{at}5,,,m{at % 2},t{at // 2}\n" for at in range(4))
    answer = proposed(tmp_path, "t.csv", f"acc,more,other,model,task\n{rows}")
    assert (answer["metric"], answer["cells"]) == ("acc", 4)


SWEEP = "lr,bs,acc\n1,1,0.5\n1,2,0.6\n2,1,0.7\n2,2,0.8\n"


def test_what_has_no_table_in_a_folder_is_not_read_and_told(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# A sweep\n", "utf-8")
    (tmp_path / "best.json").write_text('{"lr": 2, "bs": 2}', "utf-8")
    (tmp_path / "names.tsv").write_text("who\twhere\na\tb\n", "utf-8")
    proposed(tmp_path, "t.csv", SWEEP)
    result = CliRunner().invoke(main, ["import", str(tmp_path), "--dry-run"])
    assert "= 4 cells" in result.output
    assert "not read: README.md: no table of results (README.md, which has no table)" in (
        result.output
    )
    assert "not read: best.json: no table of results (best.json, a JSON object" in result.output
    assert "not read: names.tsv: 1 row of text table, tabs between values, without numbers" in (
        result.output
    )


def test_a_folder_with_several_kinds_of_tables_says_what_each_is(tmp_path: Path) -> None:
    proposed(tmp_path, "t.csv", SWEEP)
    proposed(tmp_path, "u.csv", SWEEP)
    proposed(tmp_path, "r.json", json.dumps([{"lr": 1, "bs": 1, "acc": 0.5}]))
    result = CliRunner().invoke(main, ["import", str(tmp_path), "--dry-run"])
    assert result.exit_code == 2
    assert result.output == (
        "Error: nothing was imported\n"
        f"  found:    {tmp_path}, a folder with files of several kinds: r.json: 1 row of JSON; "
        "t.csv, u.csv: 8 rows of 2 files, text table, commas between values\n"
        "  expected: a folder in which files of one kind have tables of results\n"
        f"  fix:      name the files, such as {tmp_path}/*.json\n"
    )


def test_tables_to_choose_from_are_told_with_the_parts_they_stand_in(tmp_path: Path) -> None:
    text = "# Page\n" + "".join(
        f"## {part}\n### Times\n| {head} | a | b |\n|-|-|-|\n| x | 1 | 2 |\n| y | 3 | 4 |\n"
        for part, head in (("log", "Crate"), ("mesh", "Name"))
    )
    refused = proposed(tmp_path, "t.md", text)["refused"]
    assert "1 (log > Times; 2 rows" in refused
    assert "2 (mesh > Times; 2 rows" in refused


def test_levels_that_differ_by_a_sign_get_addresses_that_differ(tmp_path: Path) -> None:
    text = "model,task,acc\na,mbpp,0.5\na,mbpp+,0.4\nb,mbpp,0.7\nb,mbpp+,0.6\n"
    (tmp_path / "t.csv").write_text(text, "utf-8")
    command = ["import", str(tmp_path / "t.csv"), "--yes", "--data", str(tmp_path / "data")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    assert "mbpp plus" in (tmp_path / "data/t/cells.csv").read_text("utf-8")


def test_a_spread_has_the_unit_of_its_result(tmp_path: Path) -> None:
    runs = [
        {"command": f"{tool} -j{threads}", "mean": 4.5 / threads, "stddev": 0.0125 * threads,
         "median": 4.25 / threads, "user": 4.0, "system": 0.25,
         "parameters": {"tool": tool, "threads": threads}}
        for tool in ("one", "two") for threads in (1, 2, 4)
    ]  # fmt: skip
    answer = proposed(tmp_path, "bench.json", json.dumps({"results": runs}))
    assert (answer["unit"], answer["name"], answer["spread"]) == ("s", "Time", ["stddev"])
    command = ["import", str(tmp_path / "bench.json"), "--yes", "--data", str(tmp_path / "data")]
    assert CliRunner().invoke(main, command).exit_code == 0
    rows = (tmp_path / "data/bench/cells.csv").read_text().splitlines()
    assert [row.split(",")[2:4] for row in rows] == [
        ["mean", "spread"], *[["4.5", "0.0125"], ["2.25", "0.025"], ["1.125", "0.05"]] * 2
    ]  # fmt: skip


def test_percentiles_of_one_measurement_are_no_levels(tmp_path: Path) -> None:
    lines = [f"/{page},{at}00,{at}0,{at + 1}0,{at + 3}0" for at, page in enumerate("abc", 1)]
    text = "\n".join(["Name,Requests,50%,95%,99%", *lines, "Aggregated,600,20,30,50"])
    assert "only one factor varies, Name" in proposed(tmp_path, "load.csv", text)["refused"]


@pytest.mark.parametrize(
    ("words", "kind"),
    [("standard deviation over 5 seeds", "sd"), ("SEM", "se"),
     ("standard error", "se"), ("95 % interval", "ci95"), ("half of the range", "")],
)  # fmt: skip
def test_a_caption_says_what_stands_after_a_sign(words: str, kind: str) -> None:
    assert spread_in([f"BLEU (mean ± {words})", "paper"]) == kind
