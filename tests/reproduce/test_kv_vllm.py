"""vLLM beside our own decoding: its requests, and its answers as traces and as the baseline."""

import json

import pytest
import tiny
from test_kv_sweep import here, on_tiny, run  # noqa: F401  (fixtures)

from gridatlas_reproduce.kv.models import choose_model, load_tokenizer
from gridatlas_reproduce.kv.predictor import traces_of_vllm
from gridatlas_reproduce.kv.questions import Question, prompt_ids, read_jsonl
from gridatlas_reproduce.kv.vllm import VllmAnswer, read_answers
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.records import RunFolder
from gridatlas_reproduce.runner.units import seed_of

FULL = ["--scorer", "full", "--samples", "2", "--max-new-tokens", "60", "--limit", "2"]


def line_of(name, text, finish="stop", **changes):
    """An answer as vLLM 0.11 writes it: no key is left out, whatever it is."""
    message = {
        "role": "assistant", "content": text, "refusal": None, "annotations": None, "audio": None,
        "function_call": None, "tool_calls": [], "reasoning_content": None,
    }  # fmt: skip
    choice = {
        "index": 0, "message": message | changes.pop("message", {}), "logprobs": None,
        "finish_reason": finish, "stop_reason": None, "token_ids": None,
    }  # fmt: skip
    tokens = len(text) + 1
    usage = {"prompt_tokens": 18, "total_tokens": 18 + tokens, "completion_tokens": tokens}
    body = {
        "id": "chatcmpl-5d0f", "object": "chat.completion", "created": 1_762_000_000,
        "model": "./qwen2", "choices": [choice], "service_tier": None, "system_fingerprint": None,
        "usage": usage | {"prompt_tokens_details": None}, "prompt_logprobs": None,
        "prompt_token_ids": None, "kv_transfer_params": None,
    }  # fmt: skip
    response = {"status_code": 200, "request_id": "vllm-batch-77", "body": body}
    content = {"id": "vllm-19", "custom_id": name, "response": response, "error": None}
    return content | changes


def write(path, *lines):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


ANSWERS = [
    line_of("q0/0", "it is 0.</think>So \\boxed{0}"),
    line_of("q0/1", "hm</think>\\boxed{7}"),
    line_of("q1/0", "it is b.</think>Answer: B"),
    line_of("q1/1", "no end", "length"),
]


def test_requests_are_those_of_our_own_prompts(run, here):  # noqa: F811
    given = ["--model", "r1-qwen=./qwen2", *on_tiny()[2:], *FULL, "--seed", "5"]
    done = run("kv_sweep", *given, "--requests", "runs/requests.jsonl")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "pip install vllm   # in an environment of its own",
        f"vllm run-batch -i runs/requests.jsonl -o runs/requests-answers.jsonl --model "
        f"{here}/qwen2 --dtype float16 --max-model-len 1060 --generation-config vllm",
    ]
    text = (here / "runs" / "requests.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["custom_id"] for line in lines] == ["q0/0", "q0/1", "q1/0", "q1/1"]
    body = lines[1].pop("body")
    assert lines[1] == {"custom_id": "q0/1", "method": "POST", "url": "/v1/chat/completions"}
    messages = body.pop("messages")
    assert body == {
        "model": str(here / "qwen2"),
        "temperature": 0.6,
        "top_p": 0.95,
        "top_k": 20,
        "max_tokens": 60,
        "seed": seed_of(5, "q0", 1) % 2**63,
        "skip_special_tokens": False,
    }
    # vLLM puts the model's own template around it, as we do.
    tokenizer = load_tokenizer(choose_model("r1-qwen=./qwen2"))
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    asked = read_jsonl(here / "q.jsonl").questions[0]
    assert ids == prompt_ids(tokenizer, asked, "official")


def test_answers_are_the_baseline(run, here):  # noqa: F811
    write(here / "runs" / "vllm.jsonl", *ANSWERS)
    given = [*on_tiny(), *FULL, "--answers", "runs/vllm.jsonl", "--out", "runs/vllm"]
    done = run("kv_sweep", *given)
    assert done.exit_code == 0, done.output
    found = RunFolder.open(here / "runs" / "vllm")
    manifest = found.manifest()
    assert manifest["settings"]["decoder"]["name"] == "vllm"
    rows = [row for unit in found.plan() for row in found.read(unit)]
    assert [(row.item, row.sample, row.correct, row.finish) for row in rows] == [
        ("q0", 0, True, "stop"),
        ("q0", 1, False, "stop"),
        ("q1", 0, True, "stop"),
        ("q1", 1, False, "length"),
    ]
    assert [row.seconds for row in rows] == [None] * 4
    assert rows[0].seed == seed_of(0, "q0", 0)
    # Answers of another file are another run's.
    write(here / "runs" / "vllm.jsonl", *reversed(ANSWERS))
    other = run("kv_sweep", *given)
    assert other.exit_code == 2
    assert "settings.decoder.answers" in other.output
    # A predictor can be trained on the run, or on the file itself.
    train = ["--model", "r1-qwen=./qwen2", "--data", "q.jsonl", "--dry-run"]
    for source in (["--run", "runs/vllm"], ["--traces", "runs/vllm.jsonl"]):
        made = run("train_predictor", *train, *source)
        assert "2 answers, 39 tokens: 15 steps" in made.output, made.output
    alone = run("train_predictor", *train[:2], "--traces", "runs/vllm.jsonl")
    assert alone.exit_code == 2
    assert "--data belongs to --run, or to --traces with vLLM's answers" in alone.output


def test_only_correct_and_whole_answers_are_traces(tmp_path):
    path = write(tmp_path / "answers.jsonl", *ANSWERS)
    asked = [Question("q0", "what is 0+0?", "0"), Question("q1", "b?", "B", ("1", "2"))]
    traces = traces_of_vllm(path, asked, tiny.new_tokenizer(), "official")
    assert [trace.id for trace in traces] == ["q0/0", "q1/0"]
    assert tiny.THOUGHT in traces[0].answer
    with pytest.raises(CannotRun, match='answers the question "q1"'):
        traces_of_vllm(path, asked[:1], tiny.new_tokenizer(), "official")


def test_missing_answers_are_told(run, here):  # noqa: F811
    write(here / "runs" / "part.jsonl", ANSWERS[0])
    given = [*on_tiny(), *FULL, "--answers", "runs/part.jsonl", "--out", "runs/part"]
    done = run("kv_sweep", *given)
    assert done.exit_code == 1
    assert "part.jsonl has no answer q0/1 and 2 others" in done.output
    assert "expected: 4 answers: 2 to each question" in done.output
    pruned = run("kv_sweep", *on_tiny(), "--scorer", "random", "--answers", "runs/part.jsonl")
    assert pruned.exit_code == 2
    assert "--requests and --answers are for --scorer full" in pruned.output


TEXT = "a</think>b"
BROKEN = {
    "failed": (
        line_of("q/0", TEXT, response={"status_code": 400, "request_id": "r", "body": None}),
        "the request failed with status 400",
    ),
    "no connection": (
        line_of("q/0", TEXT, response=None, error="engine is dead"),
        'the request failed: "engine is dead"',
    ),
    "thought taken out": (
        line_of("q/0", "b", message={"reasoning_content": "a"}),
        "a reasoning parser has taken the thought out of the text",
    ),
    "other request": (line_of("request-1", TEXT), 'custom_id is "request-1"'),
    "cut off": (line_of("q/0", TEXT, "abort"), 'finish_reason is "abort"'),
    "no body": ({"custom_id": "q/0", "response": {"status_code": 200}}, "no 'body'"),
}


@pytest.mark.parametrize(("line", "why"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_answers_are_told(tmp_path, line, why):
    path = write(tmp_path / "answers.jsonl", ANSWERS[0], line)
    with pytest.raises(CannotRun) as refused:
        read_answers(path)
    assert refused.value.found.startswith(f"{path}, line 2: {why}: ")
    assert refused.value.fix == "ask vLLM again, without --reasoning-parser"


def test_answers_are_read(tmp_path):
    path = write(tmp_path / "answers.jsonl", *ANSWERS)
    assert read_answers(path)[3] == VllmAnswer("q1", 1, "no end", 7, "length")
    with pytest.raises(CannotRun, match="line 5: q0/0 is there twice"):
        read_answers(write(path, *ANSWERS, ANSWERS[0]))
