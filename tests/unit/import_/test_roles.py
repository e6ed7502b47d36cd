"""What `gridatlas import` proposes for tables as programs write them, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gridatlas.cli.main import main
from gridatlas_import.columns import Column
from gridatlas_import.kinds import kind_of
from gridatlas_import.paths import path_columns


def value(at: int, low: float = 0.4, high: float = 0.9) -> str:
    """A number that differs from row to row, the same in every run."""
    return f"{low + (at * 0.6180339 % 1) * (high - low):.4f}"


def crossed(factors: Mapping[str, Sequence[object]], *others: str) -> str:
    """A CSV table with a row for all combinations of levels.

    Args:
        others: Further columns: `name` has numbers; `name=text` has the text with `@` as the row.
    """
    names = [*factors, *(other.partition("=")[0] for other in others)]
    lines = [",".join(names)]
    for at, levels in enumerate(product(*factors.values())):
        cells = [*map(str, levels)]
        for number, other in enumerate(others):
            text = other.partition("=")[2]
            cells.append(text.replace("@", str(at)) if text else value(at * 7 + number))
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


MODELS = ("base", "moe", "ssm")
TASKS = ("arc", "boolq", "piqa", "rte")
ROLES: dict[str, tuple[str | dict[str, str], dict[str, Any]]] = {
    "scikit-learn, with an index and a rank": (
        crossed(
            {"param_alpha": (0.001, 0.01, 0.1), "param_size": ("(50 )", "(99 )")},
            "mean_fit_time", "split0_test_score", "mean_test_score", "std_test_score",
            "rank_test_score=@", "params={'a': @}",
        ),
        {"x": "param_alpha", "y": "param_size", "metric": "mean_test_score",
         "spread": ["std_test_score"]},
    ),
    "an error whose sign is turned": (
        crossed({"param_a": (1, 2, 3), "param_b": (1, 2)}, "mean_test_neg_mean_squared_error"),
        {"metric": "mean_test_neg_mean_squared_error", "better": "higher"},
    ),
    "animals that are called as a metric is": (
        crossed({"dose": (1, 2, 4), "treatment": ("control", "drug"),
                 "animal": ("R1", "R2", "R3", "R4")}, "change"),
        {"metric": "change", "better": None, "repeats": ["animal"]},
    ),
    "Optuna, drawn at random but for two": (
        crossed({"params_depth": (2, 4), "params_width": (8, 16), "again": range(9)},
                "number=@", "value", "params_dropout", "state=COMPLETE").replace("again", "_again"),
        {"x": "params_depth", "y": "params_width", "metric": "value", "repeats": ["rows"]},
    ),
    "Weights & Biases, with states and books": (
        crossed({"config.lr": (0.1, 0.01), "config.wd": (0, 0.1), "config.seed": (1, 2)},
                "Name=swift-@", "State=finished", "Created=2025-01-01T00:00:0@", "_step=999",
                "summary.val.acc"),
        {"x": "config.lr", "y": "config.wd", "metric": "summary.val.acc",
         "repeats": ["config.seed"]},
    ),
    "folds, with times and p-values": (
        crossed({"dataset": ("iris", "wine"), "classifier": ("svm", "rf", "knn"),
                 "fold": (0, 1, 2)}, "n_train=900", "accuracy", "fit_time", "p_value"),
        {"x": "classifier", "y": "dataset", "metric": "accuracy", "repeats": ["fold"]},
    ),
    "animals in groups, each measured several times": (
        "".join(["Weight,Feed,Time,Pig,Evit,Cu,Litter\n", *(
            f"{(time * pig) % 23 + 20.5},{time * 1.37 + pig / 7:.3f},{time},{4601 + pig * 7},"
            f"{pig % 3},{pig // 3 % 3},{pig // 5}\n"
            for pig in range(36) for time in (1, 2, 3, 4)
        )]),
        {"x": "Time", "y": "Evit", "facets": ["Cu"], "repeats": ["Pig"]},
    ),
    "settings that have numbers are no groups": (
        "".join(["lr,bs,config,task,acc\n", *(
            f"{lr},{bs},{at * 2 + b},{task},{value(at * 9 + b * 3 + t)}\n"
            for at, lr in enumerate((0.1, 0.2, 0.3)) for b, bs in enumerate((16, 32))
            for t, task in enumerate(TASKS)
        )]),
        {"repeats": []},
    ),
    "who was measured, once with each drug": (
        crossed({"group": (1, 2), "ID": range(1, 11)}, "extra"),
        {"x": "group", "y": None, "metric": "extra", "repeats": ["ID"]},
    ),
    "blocks, and doses that are none or one": (
        "".join(["block,N,P,K,yield\n", *(
            f"{block},{at // 4},{at // 2 % 2},{at % 2},{value(block * 8 + at)}\n"
            for block in range(1, 7) for at in range(8) if (block + at) % 2
        )]),
        {"x": "N", "y": "P", "facets": ["K"], "repeats": ["block"], "metric": "yield"},
    ),
    "one factor with equally many rows": (
        ",weight,group\n" + "".join(f"{at},{value(at)},{'abc'[at // 10]}\n" for at in range(30)),
        {"x": "group", "y": None, "metric": "weight", "repeats": ["rows"]},
    ),
    "answers called y": (
        crossed({"trt": (1, 2), "day": (3, 7, 10, 14), "id": range(1, 9)}, "score=@")
        .replace("score", "y"),
        {"x": "day", "y": "trt", "metric": "y", "repeats": ["id"]},
    ),
    "sizes that were measured": (
        "".join(["size,time,tree,treat\n", *(
            f"{float(value(tree * 3 + time)) * 3 + time:.1f},{time},{tree},{'ab'[tree // 9]}\n"
            for tree in range(18) for time in (5, 9, 12)
        )]),
        {"x": "time", "y": "treat", "metric": "size", "repeats": ["tree"]},
    ),
    "strata of two rows each": (
        crossed({"strata": range(1, 41), "treated": (0, 1)}, "share"),
        {"x": "strata", "y": "treated", "metric": "share"},
    ),
    "answers of which a table has all": (
        crossed({"residence": ("a", "b", "c"), "response": ("yes", "no"), "sex": ("m", "f")},
                "Freq"),
        {"x": "residence", "y": "response", "facets": ["sex"], "metric": "Freq"},
    ),
    "times that were set, beside marks with gaps": (
        "time,treatment,subject,rep,potato\n" + "".join(
            f"{time},{treatment},{subject},{rep},{(time * 7 + subject * 3 + rep) % 23 / 10 or ''}\n"
            for time in range(1, 11) for treatment in (1, 2, 3) for subject in (3, 10, 15, 19)
            for rep in (1, 2)
        ),
        {"x": "time", "y": "treatment", "metric": "potato", "repeats": ["subject", "rep"]},
    ),
    "a training log: steps are an axis where they are crossed": (
        crossed({"model": MODELS, "step": range(0, 500, 100)}, "train_loss", "val_loss"),
        {"x": "step", "y": "model", "metric": "val_loss", "better": "lower", "facets": []},
    ),
    "where a run stopped is no axis": (
        crossed({"config/lr": (0.1, 0.01), "config/momentum": (0, 0.9)},
                "training_iteration=@0", "time_total_s", "trial_id=a@", "mean_accuracy"),
        {"x": "config/lr", "y": "config/momentum", "metric": "mean_accuracy", "facets": []},
    ),
    "a benchmark of latency": (
        crossed({"gpu": ("A", "H"), "batch_size": (1, 8), "dtype": ("fp16", "int8")},
                "latency_ms", "peak_memory_gb"),
        {"metric": "latency_ms", "better": "lower"},
    ),
    "a year is an axis where it is crossed": (
        crossed({"country": ("DE", "FR", "IT"), "year": range(2000, 2006)}, "emissions"),
        {"x": "year", "y": "country", "metric": "emissions"},
    ),
    "settings of sampling, seeds, and how long answers were": (
        crossed({"model": MODELS, "temperature": (0.2, 0.7), "top_p": (0.9, 1), "seed": (1, 2)},
                "exact match", "tokens"),
        {"x": "temperature", "y": "top_p", "metric": "exact match", "facets": ["model"],
         "repeats": ["seed"]},
    ),
    "a penalty for repetition is no repeat": (
        crossed({"top_k": (20, 50), "min_p": (0, 0.05), "repetition_penalty": (1, 1.1)},
                "pass@1", "avg_output_tokens"),
        {"metric": "pass@1", "facets": ["repetition_penalty"], "repeats": []},
    ),
    "tokens that are set, beside those that were counted": (
        crossed({"temperature": (0.2, 0.8), "max_new_tokens": (512, 1024, 2048)},
                "accuracy", "tokens"),
        {"x": "temperature", "y": "max_new_tokens", "metric": "accuracy", "facets": []},
    ),
    "a law of scaling": (
        crossed({"n_params": (10, 100, 1000), "n_tokens": (5, 50, 500)}, "loss", "flops"),
        {"x": "n_params", "y": "n_tokens", "metric": "loss", "better": "lower"},
    ),
    "pass and fail are 1 and 0": (
        "tool,case,result\na,1,pass\na,2,fail\nb,1,pass\nb,2,pass\n",
        {"metric": "result", "better": "higher"},
    ),
    "counts are the value where nothing else is": (
        crossed({"actual": ("cat", "dog"), "predicted": ("cat", "dog")}, "count=1@"),
        {"x": "actual", "y": "predicted", "metric": "count"},
    ),
    "names together where a facet would leave most cells empty": (
        "model,pretrained,dataset,acc1\n"
        + "".join(f"m{m},{p},{d},{value(at)}\n" for at, ((m, p), d) in enumerate(
            product([(at % 5, f"p{at}") for at in range(10)], ("a", "b", "c")))),
        {"x": "dataset", "y": "pretrained", "metric": "acc1", "facets": []},
    ),
    "a leaderboard": (
        "Model,Average ⬆️,ARC,HellaSwag,MMLU,Type,#Params (B),Likes\n"
        + "".join(f"org/m{at},{at}1.5,6{at}.1,7{at}.2,4{at}.3,chat,{at + 1}.5,{at}7\n"
                  for at in range(5)),
        {"x": "columns", "y": "Model", "columns": ["ARC", "HellaSwag", "MMLU"]},
    ),
    "a pivot table whose corner names both axes": (
        "Sparsity \\ Model,resnet,vit,mixer\n0%,70.1%,79.9%,60.2%\n25%,69.0%,,59.1%\n",
        {"x": "columns", "y": "Sparsity", "metric": "value", "columns": ["resnet", "vit", "mixer"]},
    ),
    "a column whose others follow from it is the row": (
        "Model,Year,Encoder,CoLA,SST-2,MNLI,Avg\n"
        + "".join(f"m{at},{2018 + at // 2},{'bu'[at % 2]},5{at}.1,9{at}.2,8{at}.0,7{at}.4\n"
                  for at in range(5)),
        {"x": "columns", "y": "Model", "columns": ["CoLA", "SST-2", "MNLI"]},
    ),
    "one metric of several benchmarks": (
        "model,gsm8k_acc,mmlu_acc,avg_acc,gsm8k_stderr\n"
        + "".join(f"m{at},0.{at}1,0.{at}2,0.{at}3,0.01\n" for at in range(4)),
        {"x": "columns", "y": "model", "columns": ["gsm8k_acc", "mmlu_acc"]},
    ),
    "another unit and direction is no level": (
        "Model,GSM8K ↑,MATH ↑,Latency (ms) ↓\na,41.2,18.0,12.1\nb,55.9,24.4,31.0\n",
        {"columns": ["GSM8K ↑", "MATH ↑"], "better": "higher"},
    ),
    "marks of LaTeX in a CSV table": (
        "Model,GSM8K $\\uparrow$,MATH $\\uparrow$\n\\midrule,,\nBase,$41.2 \\pm 0.5$,$18.0$\n"
        "\\textbf{Ours},$\\mathbf{63.9}_{\\pm 0.4}$,\\underline{33.1}\n",
        {"y": "Model", "spread": ["±"], "better": "higher"},
    ),
    "two lines of headings, with names below": (
        "dataset,cifar,cifar,svhn,svhn\nshots,1,5,1,5\nmethod,,,,\n"
        "proto,0.1,0.2,0.3,0.4\nmaml,0.5,0.6,0.7,0.8\nft,0.15,0.25,0.35,0.45\n",
        {"x": "dataset", "y": "shots", "facets": ["method"]},
    ),
    "names of runs in parts": (
        "run,val_acc\n" + "".join(
            f"{m}_lr{lr}_seed{s},{value(at)}\n"
            for at, (m, lr, s) in enumerate(product(("resnet", "vit"), ("0.1", "0.01"), (1, 2)))),
        {"x": "lr", "y": "model", "repeats": ["seed"]},
    ),
    "files whose names are crossed": (
        {f"results_{m}_{t}.csv": f"accuracy,f1\n0.{at}1,0.{at}2\n"
         for at, (m, t) in enumerate(product(("bert", "roberta"), ("sst2", "mrpc", "rte")))},
        {"x": "model", "y": "task", "metric": "accuracy"},
    ),
    "files of tasks by key, with settings in their names": (
        {f"ruler__4096__{press}__0.{ratio}__metrics.json": json.dumps(
            {"niah_1": {"match": 50 + ratio}, "vt": {"match": 60 + ratio}})
         for press, ratio in product(("knorm", "snapkv"), (25, 5))},
        {"x": "ratio", "y": "task", "facets": ["method"]},
    ),
    "settings in a file beside the results": (
        {f"multirun/{at}/{name}": text for at, (lr, opt) in enumerate(product((0.1, 0.2), "ab"))
         for name, text in ((".hydra/config.yaml", f"opt:\n  name: {opt}\n  lr: {lr}\nseed: 1\n"),
                            ("metrics.json", f'{{"epoch": 9, "test_acc": 0.{at}5}}'),
                            ("train.csv", "a,b\n1,2\n"))},
        {"x": "opt.lr", "y": "opt.name", "metric": "test_acc"},
    ),
    "keys that are joined": (
        {"scores.json": json.dumps({f"{m}|{t}": {"acc": float(value(at))} for at, (m, t) in
                                    enumerate(product(("llama-7b", "qwen-7b"), TASKS))})},
        {"x": "task", "y": "model", "metric": "acc"},
    ),
    "rows by key below a key": (
        {"cache.json": json.dumps({"device": "A", "cache": {
            f"{x},{y}": {"block_size_x": x, "block_size_y": y, "time": x / y, "times": [1]}
            for x, y in product((16, 32), (1, 2))}})},
        {"x": "block_size_x", "y": "block_size_y", "metric": "time", "better": "lower"},
    ),
    "tables under headings": (
        {"report.md": "".join(
            f"## Temperature: 0.{t}\n\n| Run | Accuracy |\n|-|-|\n| 1 | 1{t}% |\n| 2 | 2{t}% |\n\n"
            for t in (1, 2, 3))},
        {"x": "Temperature", "y": "Run", "metric": "Accuracy"},
    ),
    "the history of runs side by side": (
        "Step,run-a - val_loss,run-a - val_loss__MIN,run-b - val_loss,run-b - val_loss__MIN,"
        "run-c - val_loss,run-c - val_loss__MIN\n"
        + "".join(f"{at}0,0.{at}1,0.{at}1,0.{at}2,0.{at}2,0.{at}3,0.{at}3\n" for at in range(6)),
        {"x": "columns", "y": "Step", "better": "lower",
         "columns": [f"run-{run} - val_loss" for run in "abc"]},
    ),
    "deviations in brackets": (
        {"paper.md": "| Method | CIFAR-10 | SVHN |\n|-|-|-|\n| ERM | 81.2 (0.3) | 80.1 (0.2) |\n"
         "| Ours | **85.0** (0.1) | 82.2 (0.4) |\n"},
        {"y": "Method", "spread": ["±"]},
    ),
    "pandas, by columns": (
        {"t.json": json.dumps({name: dict(zip("012345", map(level, range(6)), strict=True))
         for name, level in (("lr", lambda at: at % 3), ("bs", lambda at: at // 3),
                             ("acc", lambda at: 0.5 + at / 7))})},
        {"x": "lr", "y": "bs", "metric": "acc"},
    ),
    "pandas, columns apart": (
        {"t.json": json.dumps({"columns": ["lr", "bs", "acc"], "index": [*range(6)], "data": [
            [at % 3, at // 3, 0.5 + at / 7] for at in range(6)]})},
        {"x": "lr", "y": "bs", "metric": "acc"},
    ),
    "lists below a list of names": (
        {"t.json": json.dumps([["model", "task", "acc"], *(
            [m, t, 0.5 + at / 7] for at, (m, t) in enumerate(product("ab", "pqr")))])},
        {"x": "model", "y": "task", "metric": "acc"},
    ),
    "scores by model and task": (
        {"t.json": json.dumps({m: {t: 0.5 + at / 7 for at, t in enumerate(TASKS)}
                               for m in ("llama-7b", "qwen-7b")})},
        {"x": "columns", "y": "model", "columns": [*TASKS]},
    ),
    "names of a benchmark of speed": (
        {"t.json": json.dumps({"context": {"date": "x"}, "benchmarks": [
            {"name": f"BM_{b}/{n}", "real_time": at + 0.5, "time_unit": "ns"}
            for at, (b, n) in enumerate(product(("Map", "Hash", "Flat"), (8, 64, 512)))]})},
        {"x": "size", "y": "method", "metric": "real_time", "better": "lower"},
    ),
    "sizes of matrices, one of which is called N": (
        crossed({"M": (128, 256), "N": (128, 256, 512), "dtype": ("fp16", "bf16")}, "tflops"),
        {"metric": "tflops", "repeats": []},
    ),
    "headings that are numbers with a unit, and an average": (
        "Model,4k,8k,16k,Avg.\na,91.1,90.2,80.3,87.2\nb,71.1,70.2,60.3,67.2\n",
        {"x": "columns", "y": "Model", "facets": [], "columns": ["4k", "8k", "16k"]},
    ),
    "ratings of items by several people": (
        "system,rater,item_id,fluency,adequacy\n" + "".join(
            f"s{at % 2},r{at // 2 % 2},{at // 4},{at * 7 % 5 + 1},{at * at % 5 + 1}\n"
            for at in range(16)),
        {"repeats": ["item_id"], "columns": None},
    ),
    "a table of LaTeX": (
        {"paper.tex": "\\begin{tabular}{llcc}\n\\toprule\nData & Method & $k=1$ & $k=5$ \\\\\n"
         "\\midrule\n\\multirow{2}{*}{A} & Base & $81.2_{\\pm 0.3}$ & 90.1 \\\\\n"
         " & Ours & \\textbf{85.0} & 92.2 \\\\\n"
         "\\midrule\n\\multirow{2}{*}{B} & Base & 71.2 & 80 \\\\\n"
         " & Ours & 75.0 & \\underline{82.2} \\\\\n\\bottomrule\n\\end{tabular}\n"},
        {"columns": ["k=1", "k=5"], "x": "columns"},
    ),
    "phases, and people who are numbered": (
        crossed({"Time": ("Pre", "Post"), "Group": ("a", "b", "c"), "Subject": (1, 2, 3)},
                "Scores"),
        {"x": "Time", "y": "Group", "metric": "Scores", "repeats": ["Subject"]},
    ),
    "subjects with names are levels": (
        crossed({"subject": ("law", "physics"), "model": ("a", "b", "c")}, "acc"),
        {"x": "subject", "y": "model", "repeats": []},
    ),
    "a wide table whose headings number repeats": (
        {"svm.csv": "Resamples:,0,1,2\niris,0.9,0.8,0.7\nwine,0.5,0.6,0.4\n",
         "knn.csv": "Resamples:,0,1,2\niris,0.8,0.7,0.7\nwine,0.5,0.5,0.4\n"},
        {"x": "row", "y": "model", "metric": "value", "repeats": ["Resamples"], "facets": []},
    ),
    "two settings, and benchmarks in the headings": (
        crossed({"bits": (2, 3, 4), "group_size": (32, 64)}, "ppl_wikitext", "ppl_c4", "ppl_ptb"),
        {"x": "bits", "y": "group_size", "metric": "value", "better": "lower",
         "facets": ["columns"], "columns": ["ppl_wikitext", "ppl_c4", "ppl_ptb"], "ignored": []},
    ),
    "a setting of several models, and benchmarks in the headings": (
        crossed({"model": MODELS, "bits": (2, 3, 4)}, "gsm8k_acc", "mmlu_acc"),
        {"x": "bits", "y": "model", "facets": ["columns"]},
    ),
    "models alone, and benchmarks in the headings": (
        crossed({"model": MODELS}, "gsm8k_acc", "mmlu_acc"),
        {"x": "columns", "y": "model", "facets": []},
    ),
    "a sweep over one setting": (
        crossed({"layers": (1, 2, 4, 8, 16), "seed": (1, 2)}, "acc"),
        {"x": "layers", "y": None, "metric": "acc", "facets": [], "repeats": ["seed"]},
    ),
    "a column that numbers the rows is no result": (
        crossed({"B": ("I", "II", "III"), "V": ("a", "b"), "N": (0, 2, 4)}, "rownames=@", "Y=@7"),
        {"metric": "Y", "ignored": ["rownames"], "repeats": []},
    ),
    "rows that are numbered, and repeats that aren't": (
        crossed({"supp": ("oj", "vc"), "dose": (0.5, 1, 2), "_again": range(5)}, "obs=@", "len"),
        {"x": "dose", "y": "supp", "metric": "len", "repeats": ["rows"]},
    ),
    "a setting that follows a schedule along runs with names": (
        "run_id,lr_schedule,step,lr,val_loss\n" + "".join(
            f"{run},{'cosine' if run != 'plain' else 'constant'},{step},0.000{9 - step // 100}7,"
            f"{value(at)}\n"
            for at, (run, step) in enumerate(
                product(("deep", "plain", "wide"), range(0, 700, 100)))),
        {"x": "step", "y": "run_id", "metric": "val_loss", "better": "lower", "facets": []},
    ),
    "a list of models, each with its seeds": (
        crossed({"model": MODELS, "seed": (1, 2)}, "acc"),
        {"x": "model", "y": None, "metric": "acc", "repeats": ["seed"]},
    ),
    "headings that are seeds": (
        "Method,Seed 1,Seed 2,Seed 3,Average\na,20%,30%,15%,22%\nb,5%,15%,9%,10%\n",
        {"x": "Method", "y": None, "metric": "value", "repeats": ["Seed"]},
    ),
    "headings that are a setting's name and its levels": (
        "Method,Temp 0.0,Temp 0.3,Temp 0.7\na,20%,30%,15%\nb,5%,15%,9%\n",
        {"x": "columns", "y": "Method", "columns": ["Temp 0.0", "Temp 0.3", "Temp 0.7"]},
    ),
    "two lines of headings above some columns only": (
        {"paper.tex": "\\begin{tabular}{lccc}\n\\hline\nDataset & Tree & Boost & Boost \\\\\n"
         "& & deep & flat \\\\\n\\hline\niris & 0.7 & 0.9 & 0.8 \\\\\nwine & 0.6 & 0.8 & 0.7 \\\\\n"
         "\\end{tabular}\n"},
        {"y": "Dataset", "columns": ["Tree", "Boost deep", "Boost flat"], "facets": []},
    ),
    "of two results the one whose name says what is better": (
        crossed({"model": MODELS, "topic": ("law", "art")}, "answer_rate", "hallucination_rate"),
        {"metric": "hallucination_rate", "better": "lower"},
    ),
    "a heading further above that says what is better": (
        {"t.md": "# CORL\n\n## Last Scores\n\n### Mazes\n\n| Task | BC | IQL | DT |\n|-|-|-|-|\n"
         "| small | 36.1 | 42.2 | 18.0 |\n| large | 12.4 | 34.1 | 31.7 |\n"},
        {"y": "Task", "better": "higher"},
    ),
    "outcomes of questions, each with several samples": (
        crossed({"model": ("base", "big"), "question": [f"q{at}" for at in range(9)],
                 "sample": (0, 1, 2)}, "answered").replace("answered", "correct"),
        {"x": "model", "y": None, "metric": "correct", "repeats": ["question", "sample"]},
    ),
    "texts that name questions": (
        crossed({"model": ("base", "big"), "task_question_id": ("HE/a", "HE/b", "MB/c", "MB/d")},
                "score"),
        {"x": "model", "y": None, "metric": "score", "repeats": ["task_question_id"]},
    ),
    "results of which one has a spread": (
        crossed({"optimizer": ("adam", "sgd", "muon"), "case": ("flat", "band", "haar")},
                "gap_mean", "gap_std", "q_mean", "fit_slope"),
        {"x": "optimizer", "y": "case", "metric": "gap_mean", "columns": None, "facets": []},
    ),
    "results of which one is below zero": (
        "year,country,gas,income,cars\n" + "".join(
            f"{year},{country},{value(at + year)},-{value(at + year, 5, 7)},-{value(year - at)}\n"
            for year in (1960, 1961, 1962) for at, country in enumerate(("fr", "de", "it"))),
        {"x": "year", "y": "country", "metric": "gas", "columns": None},
    ),
    "what each trial came out with": (
        "step,trial,risk,condition\n" + "".join(
            f"{step},{trial},{value(step + trial)},{trial}.25{trial}17\n"
            for step in (100, 200, 300, 400) for trial in (0, 1, 2)),
        {"x": "step", "y": None, "metric": "risk", "repeats": ["trial"], "better": "lower"},
    ),
    "prompts that are compared, by their ids": (
        crossed({"model": MODELS, "prompt_id": ("cot", "plain", "few")}, "accuracy"),
        {"x": "model", "y": "prompt_id", "metric": "accuracy", "repeats": []},
    ),
    "a list of models with the errors of some tasks": (
        crossed({"model": MODELS}, "sums", "sums_stderr", "logic", "logic_stderr", "prose"),
        {"y": "model", "columns": ["sums", "logic", "prose"]},
    ),
    "so many tokens in a second": (
        crossed({"ctx": (512, 1024), "quant": ("fp16", "int4")}, "decode_tok_s", "delta"),
        {"x": "ctx", "y": "quant", "metric": "decode_tok_s", "better": "higher"},
    ),
    "settings that were chosen by validation, with their spread": (
        crossed({"Model": ("a", "b"), "Objective": ("balanced", "secure")},
                "Chosen threshold mean", "Chosen threshold std", "Chosen threshold min",
                "Test F1 mean", "Test F1 std").replace("_", " "),
        {"x": "Model", "y": "Objective", "metric": "Test F1 mean", "spread": ["Test F1 std"]},
    ),
    "of two numbers the one that differs": (
        crossed({"dose": (1, 2, 4), "sex": ("f", "m")}, "total=20", "dead"),
        {"x": "dose", "y": "sex", "metric": "dead"},
    ),
    "thousands beside numbers that have none": (
        {"t.md": "| model | task | rate |\n|-|-|-|\n| a | p | 686 |\n| a | q | 1,188 |\n"
         "| b | p | 1,566 |\n| b | q | 900 |\n"},
        {"x": "model", "y": "task", "metric": "rate"},
    ),
}  # fmt: skip


def propose(folder: Path, source: str | dict[str, str], *options: str) -> tuple[int, Any]:
    files = {"t.csv": source} if isinstance(source, str) else source
    for name, text in files.items():
        file = folder / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    where = folder / "in" / next(iter(files)) if len(files) == 1 else folder / "in"
    arguments = ["import", str(where), "--dry-run", "--format", "json", *options]
    result = CliRunner().invoke(main, arguments)
    return result.exit_code, json.loads(result.output)


@pytest.mark.parametrize("case", ROLES)
def test_roles_are_proposed(tmp_path: Path, case: str) -> None:
    source, expected = ROLES[case]
    status, answer = propose(tmp_path, source)
    assert status == 0, answer
    got = {key: answer[key] for key in expected}
    if {got.get("x"), got.get("y")} == {expected.get("x"), expected.get("y")}:
        got |= {key: expected[key] for key in ("x", "y") if key in expected}  # they may be turned
    assert got == expected
    assert answer["collisions"] == 0
    assert answer["candidates"] == []


REFUSED: dict[str, tuple[str | dict[str, str], str]] = {
    "flowers, of which three kinds were measured": (
        "Petal.Length,Petal.Width,Species\n" + "".join(
            f"{(at % 7 + at % 11) / 10 + 1},{(at % 5 + at % 13) / 10},{'abc'[at % 3]}\n"
            for at in range(60)), "only one factor varies, Species"),
    "tests of differences": (
        crossed({"lang": ("en", "uz"), "first": ("a", "b", "c")}, "wilcoxon_statistic", "p_value",
                "cohens_d", "n=120"),
        "no column of numbers to be the metric"),
    "hours of days": (
        "DateTime,Temp\n" + "".join(
            f"{day}/3/2016 {hour}:00,{60 + day * 7 % 11 + hour / 4}\n"
            for day in (10, 11, 12) for hour in range(9)),
        "no two columns to be the axes"),
    "costs of people with few qualities": (
        "quality,ski,cost\n" + "".join(
            f"{at * at % 5},{'ny'[at * 3 % 7 > 2]},{value(at)}\n" for at in range(50)),
        "no name says what was varied or measured"),
    "a row per model": (
        crossed({"Model": ("a", "b", "c", "d")}, "Params (M)", "FLOPs (G)", "Accuracy", "F1"),
        "only one factor varies",
    ),
    "a sweep whose rows differ in what isn't known": (
        "dose,low,high\n" + "".join(f"{d},{d},{d + at}.5\n" for d in (1, 2, 3) for at in range(4)),
        "no two columns to be the axes",
    ),
    "quantities of several sizes": (
        "Model,Arena Elo,MT-bench,MMLU\n"
        + "".join(f"m{at},{1000 + at * 31},{7 + at / 10},0.{at}1\n" for at in range(6)),
        "only one factor varies, Model",
    ),
    "one log": (crossed({"step": range(20)}, "loss", "lr"), "axes"),
    "people": (
        "id,age,sex,city,income\n"
        + "".join(f"{at},{20 + at * 7 % 50},{'mf'[at % 2]},{'abc'[at * 5 % 3]},{at * 991 % 900}\n"
                  for at in range(60)),
        "no name says",
    ),
    "outcomes of three kinds": (
        "model,test,status\na,1,pass\na,2,fail\nb,1,timeout\nb,2,pass\n",
        "status with pass, fail, timeout, which aren't numbers",
    ),
    "dates, which are no names of a size and a run": (
        "month,nonfarm,mining,retail\n"
        + "".join(f"20{10 + at // 12}-{at % 12 + 1:02}-01,{13000 + at * 331},{656 + at},{at * 77}\n"
                  for at in range(36)),
        "no two columns to be the axes",
    ),
    "statistics of one model": (
        crossed({"name": ("f1_score", "exact_match", "bleu_1", "bleu_4", "rouge_l", "perplexity",
                          "num_bytes", "batch_size", "max_prob", "num_references"),
                 "split": ("valid", "test")}, "mean"),
        "only one factor varies, split",
    ),
    "benchmarks of one engine, whose deviations repeat": (
        "name,model,median,mad\n"
        + "".join(f"n{at},{'ab'[at % 2]},{value(at)},0.{at % 3}\n" for at in range(24)),
        "no two columns to be the axes",
    ),
    "rows that two factors don't tell apart": (
        "gpu,links,GB/s,units\na,4,90,12\na,8,61,6\nb,4,91,12\nb,2,740,64\nb,2,675,24\n",
        "up to 2 rows per cell",
    ),
    "numbers without labels": ("f1,f2,f3\n1,2,3\n4,5,6\n7,8,9\n10,11,12\n", "axes"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("factors", "reason"),
    [
        ({"batch": (1, 2, 4, 8)}, "--metric int8; if headings are levels, add --wide"),
        ({"batch": (1, 2, 4, 8), "depth": (1, 2)}, "--metric int8"),
    ],
)
def test_numbers_without_a_known_name_may_be_another_metric(
    tmp_path: Path, factors: dict[str, Sequence[object]], reason: str
) -> None:
    status, answer = propose(tmp_path, crossed(factors, "fp16", "int8"))
    assert (status, answer["metric"]) == (0, "fp16")
    assert answer["reasons"]["int8"] == f"perhaps another metric: {reason}"


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_grid_is_refused_with_the_reason(tmp_path: Path, case: str) -> None:
    source, reason = REFUSED[case]
    status, answer = propose(tmp_path, source)
    assert status == 1
    assert [*answer] == ["refused"]
    assert reason in answer["refused"]
    assert "; fix: " in answer["refused"]


def test_one_factor_that_isnt_a_number_is_an_axis_where_it_is_named(tmp_path: Path) -> None:
    source = "model,acc\na,0.71\nb,0.62\nc,0.83\n"
    status, answer = propose(tmp_path, source)
    assert "take model alone: --x model --y ''" in answer["refused"]
    status, answer = propose(tmp_path, source, "--x", "model", "--y", "")
    assert (status, answer["x"], answer["y"], answer["repeats"]) == (0, "model", None, [])


def test_programs_are_compared_on_what_stands_above_their_tables(tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    languages = ("C/gcc", "Rust", "Go", "Python", "Ruby/truffle", "Ada")
    file.write_text(
        "".join(
            f"### {task}\n\n| Language | Time, s |\n|-|-|\n"
            + "".join(f"| {name} | {value(at)} |\n" for at, name in enumerate(languages))
            + "\n"
            for task in ("sort", "hash", "parse")
        ),
        "utf-8",
    )
    result = CliRunner().invoke(main, ["import", str(file), "--dry-run"])
    assert "roles: {language: choice, heading: block}" in result.output


QUANTITIES = {
    "Date": "Date,Closing,Noon,Opening\n2004-01-05,17.4,18.4,17.1\n2004-01-06,16.7,17.6,16.1\n",
    "K": "K,triton,cublas,hip\n128,686,645,900\n256,1188,1103,1500\n384,1566,1521,1500\n",
    "kept": "kept,resnet,vit,mixer\n1,70.1,79.9,60.2\n0.7,69.0,78.1,59.1\n0.5,61.5,70.2,50.7\n",
}


@pytest.mark.parametrize("rows", QUANTITIES)
def test_what_may_be_meant_in_several_ways_is_asked_and_never_written(
    tmp_path: Path, rows: str
) -> None:
    status, answer = propose(tmp_path, QUANTITIES[rows])
    header, *lines = QUANTITIES[rows].splitlines()
    assert status == 0
    assert (answer["x"], answer["metric"]) == (None, None)
    assert answer["question"] == (
        "its headings may be levels of one factor, or quantities of their own (--long)"
    )
    [candidate] = answer["candidates"]
    assert (candidate["y"], candidate["columns"]) == (rows, header.split(",")[1:])
    data = tmp_path / "data"
    result = CliRunner().invoke(
        main, ["import", str(tmp_path / "in/t.csv"), "--yes", "--data", str(data)]
    )
    assert result.exit_code == 2
    assert "This can be meant in several ways: its headings may be levels" in result.output
    cells = 3 * len(lines)
    assert f"x column, y {rows}, metric value: {cells} of {cells} cells (100%)\n" in result.output
    assert not data.exists()


def test_settings_drawn_at_random_are_asked_with_their_density(tmp_path: Path) -> None:
    rows = [
        f"{at * 7 % 11},{at * 5 % 13},{at * 3 % 7},{value(at)}" for at in range(40)
    ]  # 1,001 combinations, of which 40 are there
    status, answer = propose(tmp_path, "lr,depth,width,acc\n" + "\n".join(rows) + "\n")
    assert status == 0
    assert 2 <= len(answer["candidates"]) <= 6
    assert answer["candidates"][0]["density"] < 0.2
    assert "drawn at random" in answer["question"]


def test_what_isnt_needed_for_named_axes_is_ignored(tmp_path: Path) -> None:
    table = crossed({"lr": (1, 2), "bs": (8, 16), "opt": ("a", "b")}, "loss", "group=g")
    _, answer = propose(tmp_path, table, "--x", "lr", "--y", "bs", "--metric", "loss")
    assert (answer["facets"], answer["collisions"]) == (["opt"], 0)
    table = crossed({"lr": (1, 2), "bs": (8, 16)}, "loss", "opt=o@")
    _, answer = propose(tmp_path, table, "--x", "lr", "--y", "bs", "--metric", "loss")
    assert (answer["facets"], answer["ignored"]) == ([], ["opt"])


def test_several_faults_are_told_in_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(crossed({"Model": ("a", "b"), "lr": (1, 2), "bs": (8, 16)}, "acc"))
    Path("data/t").mkdir(parents=True)
    result = CliRunner().invoke(
        main,
        ["import", "t.csv", "--x", "lr", "--y", "bs", "--metric", "acc", "--facet", "modle"],
    )
    assert result.exit_code == 2
    assert result.output == (
        "Error: nothing was imported\n"
        "  found:    data/t, which exists already\n"
        "  expected: the name of a new study\n"
        "  fix:      name another one with --study, or replace it with --replace\n"
        "  found:    --facet modle\n"
        "  expected: one of the columns Model, lr, bs, acc\n"
        "  fix:      write --facet Model\n"
    )
    result = CliRunner().invoke(
        main,
        ["import", "t.csv", "--x", "lr", "--y", "bs", "--metric", "acc", "--repeats", "acc2"],
    )
    assert "found:    data/t" in result.output
    assert "found:    --repeats acc2" in result.output


def test_a_collision_names_the_column_in_which_rows_differ(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(crossed({"Model": ("a", "b"), "lr": (1, 2), "bs": (8, 16)}, "acc", "k=1"))
    arguments = ["--x", "lr", "--y", "bs", "--metric", "acc", "--facet", "k"]
    result = CliRunner().invoke(main, ["import", str(file), *arguments])
    assert result.exit_code == 1
    assert "; up to 2 rows per cell, which differ in Model: add --facet Model" in result.output


KINDS: dict[str, tuple[str, Sequence[str]]] = {
    "factor": ("learning_rate", ("0.1", "0.2", "0.1")),
    "metric": ("eval/accuracy", ("0.1", "0.2", "0.3")),
    "cost": ("train_time_s", ("1.5", "2.5", "3.5")),
    "derived": ("rank_test_score", ("1", "2", "3")),
    "spread": ("accuracy_std", ("0.1", "0.2", "0.3")),
    "book": ("trial_id", ("a1", "a2", "a3")),
    "state": ("State", ("finished", "crashed", "finished")),
    "repeat": ("random_state", ("1", "2", "3")),
    "index": ("Unnamed: 0", ("0", "1", "2")),
    "aggregate": ("Average", ("1.5", "2.5", "3")),
    "outcome": ("passed", ("True", "False", "True")),
    "weak": ("epoch", ("1", "2", "3")),
    "text": ("response", ("Yes, it is", "no", "maybe")),
    "empty": ("x", ("", "", "")),
    "performance": ("tokens_per_second", ("1.5", "2.5", "3.5")),
    "generic": ("value", ("1.5", "2.5", "3.5")),
    "count": ("n_samples", ("10", "20", "30")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_names_say_what_a_column_is(kind: str) -> None:
    name, texts = KINDS[kind]
    assert kind_of(Column(name, texts, "point")).kind == kind


@pytest.mark.parametrize(
    ("name", "texts", "kind"),
    [
        ("lora_rank", ("4", "8", "16"), "factor"),  # powers of two are no places in an order
        ("rank", ("1", "2", "3"), "derived"),
        ("success_rate", ("0.1", "0.2", "0.3"), "metric"),
        ("dropout_rate", ("0.1", "0.2", "0.3"), "factor"),
        ("precision", ("0.91", "0.92", "0.83"), "metric"),
        ("precision", ("fp16", "int8", "fp16"), "factor"),
        ("params.max_depth", ("3", "5", "3"), "factor"),
        ("loss_weight", ("1", "2", "1"), "factor"),
        ("config.data.path", ("/a/b", "/a/c", "/a/b"), "book"),
        ("Batchgröße", ("16", "32", "16"), "factor"),
        ("evaluated", ("100", "200", "200"), "count"),
        ("n_eval", ("100", "200", "200"), "count"),
        ("numQuestions", ("100", "200", "200"), "count"),
    ],
)
def test_the_word_that_matters_decides(name: str, texts: Sequence[str], kind: str) -> None:
    assert kind_of(Column(name, texts, "point")).kind == kind


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (["lr=0.1/run1.json", "lr=0.2/run2.json"], {"lr": ["0.1", "0.2"], "run": ["1", "2"]}),
        (["len_1_depth_0.json", "len_2_depth_5.json"], {"len": ["1", "2"], "depth": ["0", "5"]}),
        (["a__knorm__0.1.json", "a__snap__0.2.json"], {"method": ["knorm", "snap"],
                                                       "ratio": ["0.1", "0.2"]}),
        (["samples_arc_easy_2025-02-03T10-00-00.1.jsonl",
          "samples_piqa_2025-02-03T10-00-00.1.jsonl"], {"task": ["arc_easy", "piqa"]}),
        (["results-imagenet-a-clean.csv", "results-imagenet-r-clean.csv"],
         {"dataset": ["imagenet-a", "imagenet-r"]}),
        (["resnet18_seed1.csv", "vit_seed2.csv"],
         {"seed": ["1", "2"], "model": ["resnet18", "vit"]}),
        (["one.csv"], {}),
    ],
)  # fmt: skip
def test_paths_say_what_varies(names: list[str], columns: Mapping[str, Sequence[str]]) -> None:
    found = path_columns(names).columns
    assert {name: [*texts] for name, texts in found.items()} == columns
