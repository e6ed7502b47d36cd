"""Questions: columns of the benchmarks, local files, prompts, and what is reported of bad ones."""

import datasets
import httpx
import huggingface_hub
import pytest
import tiny
from huggingface_hub.errors import GatedRepoError

from gridatlas_reproduce.kv.questions import (
    BENCHMARKS,
    Question,
    load_benchmark,
    prompt_ids,
    prompt_text,
    questions_of,
    read_jsonl,
)
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage

OPEN = Question("1", "What is 6 · 7?", "42")
CHOICE = Question("2", "Which is it?", "B", ("one", "two"))
BOXED = "\nPlease reason step by step, and put {} within \\boxed{{}}."


def test_prompts_of_the_profiles():
    choices = "Which is it?\n\nA) one\nB) two"
    assert prompt_text(OPEN, "official") == "What is 6 · 7?"
    assert prompt_text(OPEN, "boxed") == "What is 6 · 7?" + BOXED.format("your final answer")
    assert prompt_text(CHOICE, "official") == choices
    assert prompt_text(CHOICE, "boxed") == choices + BOXED.format("the letter of your choice")


def test_prompt_is_the_chat_template_around_it():
    tokenizer = tiny.new_tokenizer()
    ids = prompt_ids(tokenizer, Question("1", "is it 6?", "6"), "official")
    assert tokenizer.decode(ids) == "<user>is it 6?<assistant><think>"


def test_columns_of_the_benchmarks():
    aime = [{"id": 60, "problem": " p ", "answer": 204, "solution": "s"}]
    assert questions_of("aime24", aime) == (Question("60", "p", "204"),)
    assert questions_of("aime25", [{"problem": "p", "answer": "70"}]) == (Question("0", "p", "70"),)
    amc = [{"id": 3, "question": "q", "answer": "27.0"}]
    assert questions_of("amc23", amc) == (Question("3", "q", "27.0"),)


def gpqa(name):
    wrong = {f"Incorrect Answer {i}": f"wrong {i}\n" for i in (1, 2, 3)}
    return {"Record ID": name, "Question": "q", "Correct Answer": "right ", **wrong}


def test_choices_of_gpqa_are_in_an_order_of_their_own():
    made = questions_of("gpqa_d", [gpqa(f"rec{i}") for i in range(40)])
    again = questions_of("gpqa_d", [gpqa(f"rec{i}") for i in reversed(range(40))])
    assert made == again[::-1]
    for question in made:
        assert sorted(question.choices) == ["right", "wrong 1", "wrong 2", "wrong 3"]
        assert question.choices["ABCD".index(question.answer)] == "right"
    assert {question.answer for question in made} == set("ABCD")


def test_local_file(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text(
        '{"id": 1, "question": "6 · 7?", "answer": 42}\n\n'
        '{"id": "b", "question": "?", "answer": "two", "choices": ["one", "two"]}\n'
        '{"id": "c", "question": "?", "answer": "A", "choices": ["one", "two"]}\n'
    )
    data = read_jsonl(path)
    assert data.questions == (
        Question("1", "6 · 7?", "42"),
        Question("b", "?", "B", ("one", "two")),
        Question("c", "?", "A", ("one", "two")),
    )
    about = data.about()
    assert (about["id"], about["revision"], len(about["sha256"])) == ("q.jsonl", None, 64)
    path.write_text(path.read_text().replace("42", "43"))
    assert read_jsonl(path).about()["sha256"] != about["sha256"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "{path} has no question"),
        ('{"id": "1", "question": "?", "answer": "1"}\n' * 2, '{path} has the id "1" twice'),
        ("[]", "{path}, line 1: it isn't a JSON object"),
        ('\n{"id": "1", "question": "?"}', "{path}, line 2: answer is missing"),
        ('{"id": "1", "question": "?", "answer": " "}', "{path}, line 1: answer is empty"),
        ('{"id": "1", "question": [1], "answer": "1"}', '{path}, line 1: question is "[1]"'),
        (
            '{"id": "1", "question": "?", "answer": "C", "choices": ["a", "b"]}',
            '{path}, line 1: the answer is "C", which is none of the choices',
        ),
        (
            '{"id": "1", "question": "?", "answer": "A", "choices": "ab"}',
            "{path}, line 1: choices is no list of texts",
        ),
    ],
)
def test_bad_local_files(tmp_path, text, why):
    path = tmp_path / "q.jsonl"
    path.write_text(text)
    with pytest.raises(CannotRun) as refused:
        read_jsonl(path)
    assert refused.value.found == why.format(path=path)


# --- the hub --------------------------------------------------------------------------------------


def test_benchmarks_are_pinned_and_counted(monkeypatch):
    asked = []

    def load(dataset, name, *, split, revision):
        asked.append((dataset, name, split, revision))
        return [{"id": i, "question": "q", "answer": str(i)} for i in range(40)]

    monkeypatch.setattr(datasets, "load_dataset", load)
    data = load_benchmark("amc23", "abc")
    assert asked == [("math-ai/amc23", None, "test", "abc")]
    assert (data.source, data.revision, len(data.questions)) == ("math-ai/amc23", "abc", 40)
    monkeypatch.setattr(
        datasets, "load_dataset", lambda *a, **b: [{"question": "q", "answer": "1"}]
    )
    with pytest.raises(CannotRun) as refused:
        load_benchmark("amc23", "abc")
    assert refused.value.message == (
        "math-ai/amc23 at abc has 1 questions\n"
        "  expected: the 40 of amc23\n"
        "  fix:      give another commit with --data-revision, or the questions with --data "
        "file.jsonl"
    )


def test_commit_is_looked_up(monkeypatch):
    class Info:
        sha = "c0ffee"

    rows = [{"id": i, "question": "q", "answer": str(i)} for i in range(40)]
    monkeypatch.setattr("huggingface_hub.HfApi.dataset_info", lambda self, name: Info)
    monkeypatch.setattr(datasets, "load_dataset", lambda *a, revision, **b: rows)
    assert load_benchmark("amc23", None).revision == "c0ffee"


def test_gated_data_is_told(monkeypatch):
    def gated(*arguments, **options):
        try:
            raise GatedRepoError.__new__(GatedRepoError)
        except GatedRepoError as error:
            raise ConnectionError("401") from error

    monkeypatch.setattr(datasets, "load_dataset", gated)
    with pytest.raises(CannotRun) as refused:
        load_benchmark("gpqa_d", "abc")
    assert refused.value.message == (
        "the data set Idavidrein/gpqa is gated\n"
        "  expected: a token of an account whose request for access was granted\n"
        "  fix:      ask for access at https://huggingface.co/datasets/Idavidrein/gpqa, then run "
        "hf auth login, or give a local copy with --data file.jsonl"
    )


def test_hub_that_does_not_answer_is_told(monkeypatch):
    def fails(*arguments, **options):
        raise ConnectionError("no route\nto host")

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(datasets, "load_dataset", fails)
    with pytest.raises(CannotRun) as refused:
        load_benchmark("aime24", "abc")
    assert refused.value.message == (
        "the data set HuggingFaceH4/aime_2024 can't be had from the hub: no route\n"
        "  expected: a connection to huggingface.co, the right id and revision\n"
        "  fix:      correct them, or give a local copy: --data file.jsonl"
    )


def test_no_network_is_told(monkeypatch):
    def nobody_there(*_):
        return httpx.get("http://127.0.0.1:9")

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", nobody_there)
    with pytest.raises(CannotRun) as refused:
        load_benchmark("aime24", None)
    assert refused.value.message == (
        "the data set HuggingFaceH4/aime_2024 can't be had from the hub: "
        "[Errno 111] Connection refused\n"
        "  expected: a connection to huggingface.co, the right id and revision\n"
        "  fix:      correct them, or give a local copy: --data file.jsonl"
    )


def test_unknown_benchmark_is_told():
    with pytest.raises(WrongUsage) as refused:
        load_benchmark("math500", None)
    assert refused.value.message == (
        "the benchmark math500\n"
        f"  expected: one of {', '.join(BENCHMARKS)}, or another with --data\n"
        "  fix:      correct --benchmark, or give its questions: --data file.jsonl"
    )
