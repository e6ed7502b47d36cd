"""The commands that the pages print, run as they are printed, in the order of each page.

Tiny models and questions lie on a hub of this machine, under the names of the real ones. What
needs a GPU must say so where there is none, and is then run with `--device cpu`.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
import tiny
import torch
from hub import COMMIT, Hub
from transformers import AutoModelForCausalLM
from warm import Done, Warm

from gridatlas.reproduce.kv.questions import read_jsonl

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*(ROOT / "docs" / "reproduce").glob("*.py"), *(ROOT / "docs" / "reproducing").glob("*.md")]
)
CPU = ["--device", "cpu"]
OF_THE_MACHINE = {".", "cd", "git", "hf", "make", "pip", "python3", "ray", "sbatch"}
"""Commands that install, or are another program's: they aren't run here."""
SAID = [*"hm", "</think>", *"\\boxed{4}", "<end>"]
"""What the tiny model always says: a thought, and the right answer to all questions here."""


def commands(path: Path) -> list[list[str]]:
    """The words of each command in a page's `sh` blocks."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        text = re.sub(r"^# ?", "", text, flags=re.MULTILINE)
    blocks = re.findall(r"^ *```sh\b[^\n]*\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def test_all_pages_with_commands_are_found() -> None:
    found = {path.name: len(commands(path)) for path in PAGES}
    assert found["grpo_digits.py"] == 8
    assert found["kv_sweep.py"] == 10
    assert all(found[path.name] for path in PAGES if path.suffix == ".py")
    joined = commands(ROOT / "docs" / "reproduce" / "grpo_digits.py")[5]
    assert joined[-2:] == ["--out", "runs/digits-try"]


def test_own_questions_of_the_page_are_read(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "reproducing" / "index.md").read_text(encoding="utf-8")
    [lines] = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "train.jsonl").write_text(lines, encoding="utf-8")
    [question] = read_jsonl(tmp_path / "train.jsonl").questions
    assert (question.id, question.answer) == ("sum-1", "5050")


def save_model(folder: Path) -> None:
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


def write_lines(path: Path, lines: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


@pytest.fixture(scope="module")
def filled(hub: Hub) -> Hub:
    """The hub with the study's models and one of its benchmarks."""
    for name in ("Qwen-7B", "Llama-8B"):
        save_model(hub.folder / "models" / "deepseek-ai" / f"DeepSeek-R1-Distill-{name}")
    asked = [{"id": i, "problem": f"what is {i}-{i}+4?", "answer": "4"} for i in range(30)]
    write_lines(hub.folder / "datasets" / "HuggingFaceH4" / "aime_2024" / "train.jsonl", asked)
    return hub


@pytest.fixture
def here(tmp_path: Path, filled: Hub) -> Path:
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
    return tmp_path


def option(words: list[str], name: str) -> str | None:
    return words[words.index(name) + 1] if name in words else None


def tried(warm: Warm, words: list[str], here: Path) -> Done:
    """A command, to its end; what takes long by its own settings is killed at its first step."""
    script = Path(words[1]).name
    if "--models" in words:
        # The run before it was killed before it had a model.
        done = warm.run(words, here)
        assert (done.code, done.stdout) == (1, "")
        assert done.stderr.endswith(
            f"Error: there is no model {here}/{option(words, '--models')}/work/seed-1/before\n"
            "  expected: all models of the run that --models names\n"
            "  fix:      give that run's command again: it goes on where it stopped\n"
        )
        return Done(0, "", done.stderr)
    if script == "grpo_digits.py" and not {"--dry-run", "--grpo-steps"} & {*words}:
        planned = warm.run([*words, "--dry-run"], here)
        units = 1 if "--only" in words else 324
        assert planned.stdout.startswith(f"{units} units of 200 answers\n")
        started = warm.start(words, here)
        killed = started.kill_when(lambda: "before: 1 of 450 steps of training" in started.log)
        assert (here / (option(words, "--out") or "runs/digits") / "run.json").exists()
        return Done(0, killed.stdout, killed.stderr)
    done = warm.run(words, here)
    if done.code != 1 or "Error: no GPU" not in done.stderr:
        return done
    assert done.stderr.endswith(
        "  expected: a GPU for --device cuda\n"
        "  fix:      run it where there is one, or add --device cpu for a try with a tiny model\n"
    )
    # Figures of a CPU would say nothing: the bench refuses it.
    return warm.run([*words, *(["--dry-run"] if script == "bench_kv.py" else CPU)], here)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_of_a_page(warm: Warm, here: Path, path: Path) -> None:
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
def test_what_the_hub_does_not_give_is_told(
    warm: Warm, here: Path, hub: Hub, arguments: tuple[str, ...], message: str
) -> None:
    (hub.folder / "datasets" / "Idavidrein" / "gpqa").mkdir(parents=True, exist_ok=True)
    (here / "gpt").mkdir()
    (here / "gpt" / "config.json").write_text('{"model_type": "gpt2"}')
    done = warm.run(["python", "docs/reproduce/kv_sweep.py", *arguments], here)
    assert (done.code, done.stdout, done.stderr) == (1, "", message.format(here=here))
