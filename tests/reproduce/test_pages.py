"""The commands that the pages print, run as they are printed, in the order of each page.

Tiny models and questions lie on a hub of this machine, under the names of the real ones. What
needs a GPU must say so where there is none, and is then run with `--device cpu`.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import tiny
import torch
import yaml
from hub import COMMIT
from test_kv_vllm import line_of
from transformers import AutoModelForCausalLM
from warm import Done

from gridatlas_reproduce.kv.questions import read_jsonl
from gridatlas_reproduce.runner.records import RunFolder

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*(ROOT / "docs" / "reproduce").glob("*.py"), *(ROOT / "docs" / "reproducing").glob("*.md")]
)
CPU = ["--device", "cpu"]
SMALL_PREDICTOR = ["--first", "8", "--second", "4"]
OF_THE_MACHINE = {".", "cd", "git", "hf", "make", "pip", "python3", "ray", "sbatch", "sky", "vllm"}
"""Commands that install, or are another program's: they aren't run here. What sbatch and sky run
is, in a test of its own, and vLLM's answers are written here in its place."""
SAID = [*"hm", "</think>", *"\\boxed{4}", "<end>"]
"""What the tiny model always says: a thought, and the right answer to all questions here."""


def commands(path):
    """The words of each command in a page's `sh` blocks."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        text = re.sub(r"^# ?", "", text, flags=re.MULTILINE)
    blocks = re.findall(r"^ *```sh\b[^\n]*\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def test_all_pages_with_commands_are_found():
    found = {path.name: len(commands(path)) for path in PAGES}
    assert found["grpo_digits.py"] == 10
    assert found["kv_sweep.py"] == 10
    assert all(found[path.name] for path in PAGES if path.suffix == ".py")
    joined = commands(ROOT / "docs" / "reproduce" / "grpo_digits.py")[5]
    assert joined[-2:] == ["--out", "runs/digits-try"]


def test_own_questions_of_the_page_are_read(tmp_path):
    text = (ROOT / "docs" / "reproducing" / "index.md").read_text(encoding="utf-8")
    [lines] = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "train.jsonl").write_text(lines, encoding="utf-8")
    [question] = read_jsonl(tmp_path / "train.jsonl").questions
    assert (question.id, question.answer) == ("sum-1", "5050")


def save_model(folder):
    """A model each of whose tokens has one successor, whatever stands before."""
    config = tiny.new_config("qwen2", hidden_size=64)
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        model.model.embed_tokens.weight.copy_(torch.eye(len(tiny.VOCABULARY), 64))
        model.lm_head.weight.zero_()
        for word, following in zip(["<think>", *SAID], SAID, strict=False):
            model.lm_head.weight[tiny.VOCABULARY[following], tiny.VOCABULARY[word]] = 10
    model.save_pretrained(folder)
    tiny.new_tokenizer().save_pretrained(folder)


def write_lines(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


@pytest.fixture(scope="module")
def filled(hub):
    """The hub with the study's models and one of its benchmarks."""
    for name in ("Qwen-7B", "Llama-8B"):
        save_model(hub.folder / "models" / "deepseek-ai" / f"DeepSeek-R1-Distill-{name}")
    asked = [{"id": i, "problem": f"what is {i}-{i}+4?", "answer": "4"} for i in range(30)]
    write_lines(hub.folder / "datasets" / "HuggingFaceH4" / "aime_2024" / "train.jsonl", asked)
    return hub


@pytest.fixture
def here(tmp_path, filled):
    """A folder as a person has it who has the repository, a model, questions and answers."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "reproduce").symlink_to(ROOT / "docs" / "reproduce")
    shutil.copytree(ROOT / "data", tmp_path / "data")
    shutil.copytree(
        filled.folder / "models" / "deepseek-ai" / "DeepSeek-R1-Distill-Qwen-7B", tmp_path / "model"
    )
    asked = [{"id": str(i), "question": f"what is {i}+4-{i}?", "answer": "4"} for i in range(3)]
    write_lines(tmp_path / "questions.jsonl", asked)
    write_lines(tmp_path / "train.jsonl", asked)
    answer = "".join(SAID[:-1])
    write_lines(tmp_path / "traces.jsonl", [row | {"text": answer} for row in asked])
    answers = [line_of(f"{row['id']}/0", answer) for row in asked]
    write_lines(tmp_path / "runs" / "train-answers.jsonl", answers)
    return tmp_path


def option(words, name):
    return words[words.index(name) + 1] if name in words else None


def tried(warm, words, here):
    """A command, to its end; what takes long by its own settings is killed at its first step."""
    script = Path(words[1]).name
    if script == "grpo_digits.py" and not {"--dry-run", "--grpo-steps"} & {*words}:
        planned = warm.run([*words, "--dry-run"], here)
        units = 1 if "--only" in words else 972
        assert planned.stdout.startswith(f"{units} units\n")
        started = warm.start(words, here)
        killed = started.kill_when(
            lambda: "before: 1 of at most 800 steps of training" in started.log
        )
        assert (here / (option(words, "--out") or "runs/digits") / "run.json").exists()
        return Done(0, killed.stdout, killed.stderr)
    if "ray" in words:
        # Ray's workers, too, are tested where they are.
        return warm.run([*words, "--dry-run"], here)
    done = warm.run(words, here)
    if done.code != 1 or "Error: no GPU" not in done.stderr:
        return done
    assert done.stderr.endswith(
        "  expected: a GPU for --device cuda\n"
        "  fix:      run it where there is one, or add --device cpu for a try with a tiny model\n"
    )
    # Figures of a CPU would say nothing: the bench refuses it.
    on_cpu = {"bench_kv.py": ["--dry-run"], "train_predictor.py": [*CPU, *SMALL_PREDICTOR]}
    return warm.run([*words, *on_cpu.get(script, CPU)], here)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_of_a_page(warm, here, path):
    for words in commands(path):
        if words[0] in OF_THE_MACHINE:
            continue
        assert words[0] in ("python", "gridatlas"), shlex.join(words)
        done = tried(warm, words, here)
        assert done.code == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
    for file in here.glob("runs/**/run.json"):
        manifest = json.loads(file.read_text())
        if manifest["script"] == "kv_sweep" and "/" in manifest["model"]["id"]:
            assert manifest["model"]["revision"] == COMMIT


def test_vllm_is_called_as_the_script_prints(warm, here):
    page = ROOT / "docs" / "reproducing" / "index.md"
    every = commands(page)
    [asking] = [words for words in every if "--requests" in words]
    [printed] = [words for words in every if words[0] == "vllm"]
    done = warm.run(asking, here)
    assert done.code == 0, done.stderr
    lines = [shlex.split(line, comments=True) for line in done.stdout.splitlines()]
    at = printed.index("COMMIT")
    assert lines == [["pip", "install", "vllm"], [*printed[:at], COMMIT, *printed[at + 1 :]]]
    assert len((here / str(option(asking, "--requests"))).read_text().splitlines()) == 3


# --- schedulers -----------------------------------------------------------------------------------

QUICK = "--scorer streaming --local-window 500 --ratio 0.1 --limit 4 --device cpu"


def recorded(here, script, **environment):
    """The words of the one command of Python that a shell script ends with, in its environment."""
    program = here / ".venv" / "bin"
    program.mkdir(parents=True, exist_ok=True)
    (program / "activate").write_text(f"export PATH={program}:$PATH\n")
    (program / "python").write_text("#!/bin/sh\nprintf '%s\\n' python \"$@\"\n")
    (program / "python").chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=here,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_tasks_of_slurm_share_a_run(warm, here):
    page = ROOT / "docs" / "reproducing" / "index.md"
    [words] = [words for words in commands(page) if words[0] == "sbatch"]
    array, script, *arguments = words[1:]
    assert array == "--array=1-8"
    assert subprocess.run(["bash", "-n", script], cwd=here, check=False).returncode == 0
    text = (here / script).read_text()
    [header] = re.findall(r"^# +sbatch (.*)$", text, re.MULTILINE)
    assert header.startswith(f"{array} {script} ")
    task = shlex.join(["bash", script, *arguments, *QUICK.split()])
    for number in (3, 4):
        slurm = {"ID": str(number), "MIN": "3", "COUNT": "2"}
        found = recorded(here, task, **{f"SLURM_ARRAY_TASK_{key}": slurm[key] for key in slurm})
        assert found[2:4] == ["--shard", f"{number - 2}/2"]
        done = warm.run(found, here)
        assert done.code == 0, done.stderr
    run = RunFolder.open(here / str(option(words, "--out")))
    assert run.missing(run.plan()) == []


def test_nodes_of_skypilot_share_a_run(warm, here):
    page = ROOT / "docs" / "reproducing" / "index.md"
    [words] = [words for words in commands(page) if words[0] == "sky"]
    assert words[:2] == ["sky", "launch"]
    task = yaml.safe_load((here / words[2]).read_text())
    # The fields of a task that this one has, and their types, as SkyPilot's reference has them.
    types = {"name": str, "workdir": str, "num_nodes": int, "resources": dict, "envs": dict}
    types |= {"file_mounts": dict, "setup": str, "run": str}
    assert {key: type(value) for key, value in task.items()} == types
    assert task["resources"].keys() <= {"accelerators", "disk_size", "use_spot"}
    assert all(isinstance(value, str) for value in task["envs"].values())
    assert subprocess.run(["bash", "-n"], input=task["setup"].encode(), check=False).returncode == 0
    assert task["setup"].splitlines() == [
        shlex.join(line).replace("'", '"') for line in commands(page)[1:4]
    ]
    name, _, arguments = words[words.index("--env") + 1].partition("=")
    assert name in task["envs"]
    environment = task["envs"] | {name: f"{arguments} {QUICK}", "OUT": "runs/sky"}
    for rank in (0, 1):
        nodes = {"SKYPILOT_NODE_RANK": str(rank), "SKYPILOT_NUM_NODES": "2"}
        done = warm.run(recorded(here, task["run"], **environment, **nodes), here)
        assert done.code == 0, done.stderr
    run = RunFolder.open(here / "runs" / "sky")
    assert run.missing(run.plan()) == []


# --- a predictor of the hub -----------------------------------------------------------------------


def test_predictor_is_loaded_by_its_revision(warm, here, hub):
    script = "docs/reproduce/kv_sweep.py"
    train = "docs/reproduce/train_predictor.py --model r1-qwen --traces traces.jsonl --epochs 1"
    made = warm.run(["python", *train.split(), *CPU, *SMALL_PREDICTOR], here)
    assert made.code == 0, made.stderr
    [printed] = re.findall(r"^To publish it: (.*)$", made.stderr, re.MULTILINE)
    upload = shlex.split(printed)
    page = ROOT / "docs" / "reproducing" / "index.md"
    assert upload in commands(page)
    # What `hf upload` does, with its folder and what it leaves out.
    left_out = shutil.ignore_patterns(upload[upload.index("--exclude") + 1].partition("/")[0])
    shutil.copytree(here / upload[3], hub.folder / "models" / "me" / "dynts", ignore=left_out)
    given = ["python", script, "--model", "r1-qwen", "--benchmark", "aime24", "--limit", "1"]
    given += ["--local-window", "500", "--ratio", "0.1", "--out", "runs/published", *CPU]
    done = warm.run([*given, "--predictor", "me/dynts", "--predictor-revision", COMMIT], here)
    assert done.code == 0, done.stderr
    settings = RunFolder.open(here / "runs" / "published").manifest()["settings"]
    about = json.loads((here / "runs" / "predictor-r1-qwen" / "predictor.json").read_text())
    assert settings["predictor"] == about["sha256"]
    # The run knows its predictor by the hash: the local one is the same.
    assert warm.run(given, here).code == 0
    none = warm.run([*given, "--predictor", "me/none", "--predictor-revision", COMMIT], here)
    assert none.code == 1
    assert "the predictor me/none can't be had from the hub" in none.stderr
    folder = warm.run(
        [*given, "--predictor", "runs/predictor-r1-qwen", "--predictor-revision", COMMIT], here
    )
    assert folder.code == 2
    assert "leave --predictor-revision out" in folder.stderr


# --- what the hub doesn't give --------------------------------------------------------------------

REFUSED = {
    "gated data": (
        ("--model", "r1-qwen", "--benchmark", "gpqa_d"),
        "Error: the data set Idavidrein/gpqa is gated\n"
        "  expected: a token of an account whose request for access was granted\n"
        "  fix:      ask for access at https://huggingface.co/datasets/Idavidrein/gpqa, then run "
        "hf auth login, or give a local copy with --data file.jsonl\n",
    ),
    "data set that isn't there": (
        ("--model", "r1-qwen", "--benchmark", "amc23"),
        "Error: the data set math-ai/amc23 can't be had from the hub: 404 Client Error.\n"
        "  expected: a connection to huggingface.co, the right id and revision\n"
        "  fix:      correct them, or give a local copy: --data file.jsonl\n",
    ),
    "model that isn't there": (
        ("--model", "no/model", "--benchmark", "b", "--data", "questions.jsonl"),
        "Error: the model no/model can't be had from the hub: no/model is not a local folder and "
        "is not a valid model identifier listed on 'https://huggingface.co/models'\n"
        "  expected: a connection to huggingface.co, the right id and revision\n"
        "  fix:      correct them, or give a local copy: --model ./folder\n",
    ),
    "wrong family": (
        ("--model", "./gpt", "--benchmark", "b", "--data", "questions.jsonl"),
        "Error: {here}/gpt is of the family gpt2\n"
        "  expected: a Llama or Qwen2 model, whose layers all attend to all tokens\n"
        "  fix:      give --model one of these; DeepSeek-R1-Distill-Qwen-7B and -Llama-8B are\n",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_the_hub_does_not_give_is_told(warm, here, hub, arguments, message):
    (hub.folder / "datasets" / "Idavidrein" / "gpqa").mkdir(parents=True, exist_ok=True)
    (here / "gpt").mkdir()
    (here / "gpt" / "config.json").write_text('{"model_type": "gpt2"}')
    done = warm.run(["python", "docs/reproduce/kv_sweep.py", *arguments], here)
    assert (done.code, done.stdout, done.stderr) == (1, "", message.format(here=here))
