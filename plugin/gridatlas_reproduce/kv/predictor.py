"""DynTS's importance predictor: what it is, how it is saved, and for which model it is."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridatlas.model.problems import quote
from gridatlas_reproduce.kv.grading import shared_grader
from gridatlas_reproduce.kv.models import reaching
from gridatlas_reproduce.kv.questions import Profile, Question, prompt_ids
from gridatlas_reproduce.kv.vllm import is_answer, read_answers
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage, readable
from gridatlas_reproduce.runner.files import each_line, indented, write_atomic
from gridatlas_reproduce.runner.records import BrokenRecord, RunFolder

if TYPE_CHECKING:
    from torch import Tensor

WEIGHTS = "predictor.safetensors"
ABOUT = "predictor.json"


@dataclass(frozen=True, slots=True)
class PredictorSize:
    """Widths of the predictor's layers between the model's hidden state and the score."""

    first: int = 8192
    second: int = 2048


def new_predictor(hidden: int, size: PredictorSize, seed: int = 0) -> Any:
    """A perceptron hidden → first → second → 1 without biases, Softplus after every layer.

    It takes [..., hidden] and gives [...].
    """
    import torch
    from torch import nn

    torch.manual_seed(seed)
    widths = [hidden, size.first, size.second, 1]
    layers: list[Any] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after, bias=False), nn.Softplus()]
    return nn.Sequential(*layers, nn.Flatten(-2))


def save_predictor(
    predictor: Any, folder: Path, size: PredictorSize, about: dict[str, Any]
) -> None:
    """Write the weights, and what they are for beside them.

    Args:
        about: `hidden`, `model` (id, revision, sha256) and how it was trained.
    """
    from safetensors.torch import save

    named = sorted(predictor.state_dict().items())
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in named}
    data = save(weights)
    write_atomic(folder / WEIGHTS, data)
    digest = hashlib.sha256(data).hexdigest()
    write_atomic(folder / ABOUT, indented({**about, "size": asdict(size), "sha256": digest}))


def find_predictor(name: str, revision: str | None) -> Path:
    """The folder of a predictor; with a revision it is downloaded from the hub, by its id.

    Raises:
        WrongUsage: For a revision of a folder.
        CannotRun: Where the hub doesn't give it.
    """
    if revision is None:
        return Path(name).absolute()
    if Path(name).is_dir():
        raise WrongUsage(
            f"--predictor-revision {revision} for the folder {name}",
            "a revision only for a predictor on the hub",
            "leave --predictor-revision out",
        )
    with reaching("predictor", name, "--predictor"):
        from huggingface_hub import hf_hub_download

        files = [hf_hub_download(name, file, revision=revision) for file in (ABOUT, WEIGHTS)]
    return Path(files[0]).parent


def about_predictor(folder: Path, model: dict[str, Any], hidden: int) -> dict[str, Any]:
    """What a saved predictor is, if it is this model's.

    Args:
        model: As `models.about_model` gives it.
        hidden: The model's width.

    Raises:
        CannotRun: Where there is none, or it is of another model.
    """
    train = f"python docs/reproduce/train_predictor.py --model … --out {folder}"
    path = folder / ABOUT
    if not path.exists():
        raise CannotRun(
            f"there is no predictor in {folder}",
            f"{WEIGHTS} and {ABOUT}, which the scorer importance needs; none is published",
            f"train one ({train}), name another folder with --predictor, or take another --scorer",
        )
    with readable(path, "what train_predictor.py wrote", f"train it again: {train}"):
        about: dict[str, Any] = json.loads(path.read_bytes())
        of, _ = about["model"], [about[key] for key in ("hidden", "size", "sha256")]
    if about["hidden"] != hidden or (of.get("id"), of.get("sha256")) != (
        model["id"],
        model["sha256"],
    ):
        raise CannotRun(
            f"the predictor in {folder} is for {of.get('id')} (width {about['hidden']}), and the "
            f"model is {model['id']} (width {hidden})",
            "a predictor that was trained on this model's hidden states",
            f"name its folder with --predictor, or train one: {train}",
        )
    return about


def load_predictor(folder: Path, about: dict[str, Any], device: Any, dtype: str) -> Any:
    """The predictor, ready to score.

    Args:
        about: From `about_predictor`.
        dtype: As the model's.

    Raises:
        CannotRun: Where the weights aren't those that it says.
    """
    import torch
    from safetensors.torch import load

    path = folder / WEIGHTS
    expected = "the weights that train_predictor.py wrote"
    with readable(path, expected, "train it again, or bring the file back"):
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != about["sha256"]:
            raise ValueError(f"it isn't the file that {ABOUT} speaks of")
        predictor = new_predictor(about["hidden"], PredictorSize(**about["size"]))
        predictor.load_state_dict(load(data))
    return predictor.to(device=device, dtype=getattr(torch, dtype)).eval()


QUERIES = 256
"""Query rows whose weights are worked out at a time."""
CHUNK = 8192
"""Tokens of a trace that the predictor is given at a time."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """The thought of one trace.

    Attributes:
        hidden: [tokens, width], after the final norm.
        received: [tokens]: attention from the answer.
    """

    hidden: Tensor
    received: Tensor


def received(queries: Tensor, keys: Tensor) -> Tensor:
    """[L]: what each key receives, in single precision, without what a token gives itself.

    The weights' mean over heads, summed over the queries, which are those of the last keys.
    """
    import torch

    heads, number, width = queries.shape
    total = torch.zeros(keys.shape[1], device=keys.device)
    places = torch.arange(keys.shape[1], device=keys.device)
    for start in range(0, number, QUERIES):
        part = queries[:, start : start + QUERIES].float()
        grouped = part.reshape(len(keys), heads // len(keys), -1, width)
        own = (keys.shape[1] - number + start) + torch.arange(part.shape[1], device=keys.device)
        logits = torch.einsum("kgnd,kld->kgnl", grouped, keys.float()) / math.sqrt(width)
        logits.masked_fill_(places > own[:, None], -math.inf)
        shares = torch.softmax(logits, dim=-1).masked_fill_(places == own[:, None], 0)
        total += shares.mean(dim=(0, 1)).sum(dim=0)
    return total


def attention_from_answer(model: Any, ids: Sequence[int], answer: int) -> tuple[Tensor, Tensor]:
    """One pass over a whole trace.

    As in full eager attention, whose matrix isn't kept: only the answer's rows of it are worked
    out, layer by layer, with the diagonal set to 0.

    Args:
        ids: Prompt, thought, `</think>` and answer.
        answer: Index of the first token after `</think>`.

    Returns:
        [tokens, width] hidden states after the final norm, and [tokens] the mean over layers,
        heads and the answer's rows.
    """
    import torch
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    rows = len(ids) - answer
    if rows < 1:
        raise ValueError("the trace has no answer")
    total = torch.zeros(len(ids), device=next(model.parameters()).device)

    def after(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        hidden = (kwargs["hidden_states"] if "hidden_states" in kwargs else args[0])[:, -rows:]
        cos, sin = (part[:, -rows:] for part in kwargs["position_embeddings"])
        queries = module.q_proj(hidden).view(1, rows, -1, module.head_dim).transpose(1, 2)
        queries, _ = apply_rotary_pos_emb(queries, queries, cos, sin)
        total.add_(received(queries[0], kwargs["past_key_values"].layers[module.layer_idx].keys[0]))

    with torch.inference_mode(), ExitStack() as hooks:
        for layer in model.model.layers:
            handle = layer.self_attn.register_forward_hook(after, with_kwargs=True)
            hooks.callback(handle.remove)
        given = torch.tensor([list(ids)], device=total.device)
        out = model.model(input_ids=given, use_cache=True)
    return out.last_hidden_state[0], total / (rows * len(model.model.layers))


def labelled(model: Any, ids: Sequence[int], prompt: int, thought_end: int) -> Labelled | None:
    """The tokens to train on: those of the thought; None for a trace without thought or answer.

    Args:
        prompt: Number of tokens of the prompt.
        thought_end: The token `</think>`.
    """
    ids = list(ids)
    if thought_end not in ids[prompt:]:
        return None
    last = len(ids) - 1 - ids[::-1].index(thought_end)
    if last == prompt or last + 1 == len(ids):
        return None
    hidden, found = attention_from_answer(model, ids, last + 1)
    return Labelled(hidden[prompt:last], found[prompt:last])


def mapped(path: Path) -> Labelled:
    """The labels in a file of safetensors; read from the disk as they are used.

    Hidden states of thousands of thoughts are hundreds of gigabytes.
    """
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        return Labelled(file.get_tensor("hidden"), file.get_tensor("received"))


@dataclass(frozen=True, slots=True)
class Training:
    """How the predictor is trained; the published values.

    Attributes:
        batch: Traces per step. The paper gives the number without saying of what.
        rate: Highest learning rate of AdamW; a tenth of the steps leads up to it, and half a
            cosine down to 0.
        low, high, weight: Tokens whose target is at least low and below high count so often.
    """

    epochs: int = 15
    batch: int = 256
    rate: float = 5e-4
    betas: tuple[float, float] = (0.9, 0.95)
    decay: float = 0.01
    warm_up: float = 0.1
    low: float = 4.0
    high: float = 5.0
    weight: float = 5.0

    def steps(self, traces: int) -> int:
        """Steps of the whole training on so many traces."""
        return self.epochs * -(-traces // self.batch)


@dataclass(frozen=True, slots=True)
class Trace:
    """A correct answer to train on.

    Attributes:
        id: Of the question and sample.
        prompt: Ids of the prompt's tokens.
        answer: Ids of what the model wrote: thought, `</think>` and answer.
    """

    id: str
    prompt: tuple[int, ...]
    answer: tuple[int, ...]


def target(received: Tensor, family: str) -> Tensor:
    """What the predictor learns: labels · 10,000 for Llama, 10 · x^0.3 / 0.3 for Qwen."""
    return received * 10_000 if family == "llama" else 10 * received**0.3 / 0.3


def labels_of(
    model: Any,
    traces: Sequence[Trace],
    thought_end: int,
    folder: Path,
    report: Callable[[int], None] = lambda done: None,
) -> list[Labelled]:
    """The labels of all traces, memory-mapped; from the folder where they were made before.

    Args:
        folder: For one file per trace, written whole.
        report: Given the number of traces that are done.

    Raises:
        CannotRun: Where no trace has both a thought and an answer.
    """
    from safetensors.torch import save

    found = []
    for number, trace in enumerate(traces, 1):
        ids = [*trace.prompt, *trace.answer]
        name = hashlib.sha256(",".join(map(str, [len(trace.prompt), *ids])).encode()).hexdigest()
        path = folder / f"{name[:20]}.safetensors"
        if path.exists():
            found.append(mapped(path))
        elif (labels := labelled(model, ids, len(trace.prompt), thought_end)) is not None:
            content = {"hidden": labels.hidden, "received": labels.received}
            write_atomic(
                path, save({key: each.cpu().contiguous() for key, each in content.items()})
            )
            found.append(mapped(path))
        report(number)
    if not found:
        raise CannotRun(
            f"none of {len(traces)} traces has a thought, </think> and an answer after it",
            "correct answers of this model, from its first token to its end",
            "make some with kv_sweep.py --scorer full, and give its folder with --run",
        )
    return found


def train(
    found: Sequence[Labelled],
    family: str,
    size: PredictorSize,
    how: Training,
    seed: int,
    device: Any,
    report: Callable[[int, int, float], None] = lambda step, of, loss: None,
) -> Any:
    """A predictor trained on labelled traces; in bfloat16 on a GPU, with weights of full precision.

    Args:
        family: `llama` or `qwen2`.
        report: Given the step, their number and the loss.
    """
    import torch
    from transformers import get_cosine_schedule_with_warmup

    width = found[0].hidden.shape[1]
    predictor = new_predictor(width, size, seed).to(device)
    steps = how.steps(len(found))
    optimiser = torch.optim.AdamW(
        predictor.parameters(), lr=how.rate, betas=how.betas, weight_decay=how.decay
    )
    schedule = get_cosine_schedule_with_warmup(optimiser, round(how.warm_up * steps), steps)
    order = torch.Generator().manual_seed(seed)
    step = 0
    for _ in range(how.epochs):
        for batch in torch.randperm(len(found), generator=order).split(how.batch):
            optimiser.zero_grad()
            loss = _gradients(predictor, [found[place] for place in batch], family, how, device)
            optimiser.step()
            schedule.step()
            step += 1
            report(step, steps, loss)
    return predictor.eval()


def _gradients(
    predictor: Any, batch: Sequence[Labelled], family: str, how: Training, device: Any
) -> float:
    """Add the gradients of the mean loss over all tokens of some traces; give that loss."""
    import torch

    tokens = sum(len(labels.received) for labels in batch)
    total = 0.0
    pairs = [(each.hidden.split(CHUNK), each.received.split(CHUNK)) for each in batch]
    for hidden, labels in (part for pair in pairs for part in zip(*pair, strict=True)):
        wanted = target(labels.to(device).float(), family)
        counts = torch.where((wanted >= how.low) & (wanted < how.high), how.weight, 1.0)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            predicted = predictor(hidden.to(device).float())
        loss = ((predicted.float() - wanted) ** 2 * counts).sum() / tokens
        loss.backward()
        total += float(loss.detach())
    return total


def traces_of_file(path: Path, tokenizer: Any, profile: Profile) -> list[Trace]:
    """Traces from a file with a JSON object per line: id, question, text; choices if any.

    Raises:
        CannotRun: For a file that can't be read, with the line.
    """

    def read(line: str) -> Trace:
        try:
            content = json.loads(line)
            name, question, text = (str(content[key]) for key in ("id", "question", "text"))
            asked = Question(name, question, "", tuple(content.get("choices") or ()))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(quote(line)) from error
        return _trace(tokenizer, asked, name, text, profile)

    form = '{"id": "1", "question": "…", "text": "thought</think>answer"}'
    wanted = "a file with a JSON object per line"
    return each_line(path, read, wanted, "correct --traces", (form, "correct the line"))


def traces_of_vllm(
    path: Path, questions: Iterable[Question], tokenizer: Any, profile: Profile
) -> list[Trace]:
    """The correct answers among vLLM's, in the order of its file.

    Raises:
        CannotRun: For a file that can't be read, or an answer to another question.
    """
    by_id, found = {question.id: question for question in questions}, []
    for answer in read_answers(path):
        if answer.item not in by_id:
            raise CannotRun(
                f"{path} answers the question {quote(answer.item)}",
                "answers to the questions of --data",
                "give the questions that vLLM was asked",
            )
        asked = by_id[answer.item]
        if answer.finish == "stop" and shared_grader().grade(asked, answer.text).correct:
            name = f"{answer.item}/{answer.sample}"
            found.append(_trace(tokenizer, asked, name, answer.text, profile))
    return found


def is_of_vllm(path: Path) -> bool:
    """Whether a file's first line is one of vLLM's answers."""
    try:
        with path.open(encoding="utf-8") as file:
            return is_answer(json.loads(next(file, "null")))
    except (OSError, ValueError):
        return False  # `traces_of_file` tells what is wrong with it


def traces_of_run(
    folder: Path, questions: Iterable[Question], tokenizer: Any, model: dict[str, Any]
) -> list[Trace]:
    """The correct answers of a run of kv_sweep.py with the whole cache, in the plan's order.

    Args:
        questions: The run's.
        model: What the manifest must say of the model.

    Raises:
        WrongUsage: For a run of another model or scorer.
    """
    run = RunFolder.open(folder)
    manifest = run.manifest()
    settings = manifest["settings"]
    if settings.get("scorer") != "full" or manifest["model"] != model:
        raise WrongUsage(
            f"{folder} is a run of {(manifest['model'] or {}).get('id')} with the scorer "
            f"{settings.get('scorer')}",
            f"a run of {model['id']}, of the same revision, with --scorer full",
            "make one with kv_sweep.py --scorer full, and give its folder with --run",
        )
    by_id = {question.id: question for question in questions}
    found = []
    for unit in run.plan():
        try:
            rows = run.find(unit) or []
        except BrokenRecord as broken:
            run.report(f"{run.path(unit)} {broken}: left out")
            continue
        for row in rows:
            if row.correct and row.finish == "stop" and row.item in by_id:
                name = f"{row.item}/{row.sample}"
                asked = by_id[row.item]
                found.append(_trace(tokenizer, asked, name, row.text, settings["profile"]))
    return found


def _trace(tokenizer: Any, asked: Question, name: str, text: str, profile: Profile) -> Trace:
    answer = tokenizer(text, add_special_tokens=False)["input_ids"]
    return Trace(name, tuple(prompt_ids(tokenizer, asked, profile)), tuple(answer))
