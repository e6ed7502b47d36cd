"""The importance predictor: its labels, that it learns them, and that it is kept with its model."""

import json
from pathlib import Path

import numpy as np
import pytest
import tiny
import torch
from masked import full_attention

from gridatlas_reproduce.kv import predictor as predictors
from gridatlas_reproduce.kv.models import about_model, choose_model, load_model
from gridatlas_reproduce.kv.predictor import (
    Labelled,
    PredictorSize,
    Trace,
    Training,
    about_predictor,
    attention_from_answer,
    labelled,
    labels_of,
    load_predictor,
    new_predictor,
    save_predictor,
    target,
    train,
)
from gridatlas_reproduce.runner.errors import CannotRun

CPU = torch.device("cpu")
SIZE = PredictorSize(64, 32)


def ids_of(number, seed):
    """Random tokens but `</think>`."""
    drawn = torch.randint(tiny.THOUGHT, (number,), generator=torch.Generator().manual_seed(seed))
    return [int(token) for token in drawn]


@pytest.fixture(scope="module", params=tiny.FAMILIES)
def folder(request, tmp_path_factory):
    return tiny.save_tiny(tmp_path_factory.mktemp("models") / "tiny", request.param)


def model_of(folder, attention):
    model = load_model(choose_model(str(folder)), CPU, "float32")
    model.set_attn_implementation(attention)
    return model


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_labels_are_the_answers_attention(folder, attention):
    ids = [*ids_of(50, 1), tiny.THOUGHT, *ids_of(20, 2)]
    hidden, found = attention_from_answer(model_of(folder, attention), ids, 51)
    every = np.tri(len(ids), dtype=bool)
    whole = full_attention(model_of(folder, "eager"), ids, every)
    weights = whole.attention.copy()
    diagonal = np.arange(len(ids))
    weights[:, :, diagonal, diagonal] = 0
    expected = weights[:, :, 51:].mean(axis=(0, 1, 2))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(hidden.numpy(), whole.hidden, rtol=1e-4, atol=1e-5)


def test_only_the_thought_is_trained_on(folder):
    model = model_of(folder, "sdpa")
    ids = [*ids_of(30, 1), tiny.THOUGHT, *ids_of(20, 2)]
    hidden, received = attention_from_answer(model, ids, 31)
    labels = labelled(model, ids, 10, tiny.THOUGHT)
    assert torch.equal(labels.received, received[10:30])
    assert torch.equal(labels.hidden, hidden[10:30])
    # The answer begins after the last `</think>`.
    twice = labelled(model, [*ids_of(12, 1), tiny.THOUGHT, 3, tiny.THOUGHT, 4], 10, tiny.THOUGHT)
    assert len(twice.received) == 4
    for without in (
        ids_of(30, 1),
        [*ids_of(10, 1), tiny.THOUGHT, 1],
        [*ids_of(20, 1), tiny.THOUGHT],
    ):
        assert labelled(model, without, 10, tiny.THOUGHT) is None


def test_targets():
    labels = torch.tensor([0.0, 1e-4, 5e-4])
    assert target(labels, "llama").tolist() == pytest.approx([0, 1, 5])
    # 10 · 0.0001^0.3 / 0.3
    assert target(labels, "qwen2").tolist() == pytest.approx([0, 2.103191, 3.408551], rel=1e-5)


def test_predictor_has_its_layers():
    predictor = new_predictor(3584, PredictorSize(), 0)
    kinds = [type(layer).__name__ for layer in predictor]
    assert kinds == ["Linear", "Softplus"] * 3 + ["Flatten"]
    shapes = [tuple(parameter.shape) for parameter in predictor.parameters()]
    assert shapes == [(8192, 3584), (2048, 8192), (1, 2048)]


def test_predictor_learns_and_is_kept(folder, tmp_path):
    model = model_of(folder, "sdpa")
    traces = [
        Trace(str(seed), tuple(ids_of(10, seed)), (*ids_of(60, seed), tiny.THOUGHT, 5, 6, 7))
        for seed in range(2)
    ]
    found = labels_of(model, traces, tiny.THOUGHT, tmp_path / "work")
    family = model.config.model_type
    how = Training(epochs=600, batch=1, rate=1e-2)
    losses = []
    predictor = train(found, family, SIZE, how, 0, CPU, lambda step, of, loss: losses.append(loss))
    assert len(losses) == how.steps(2) == 600 * 2
    assert np.mean(losses[-4:]) < 0.01 * np.mean(losses[:4])
    hidden = torch.cat([labels.hidden for labels in found])
    wanted = target(torch.cat([labels.received for labels in found]), family)
    with torch.inference_mode():
        predicted = predictor(hidden)
    assert float(torch.corrcoef(torch.stack([predicted, wanted]))[0, 1]) > 0.99
    again = train(found, family, SIZE, how, 0, CPU)
    assert torch.equal(again(hidden), predictor(hidden))

    about = about_model(choose_model(str(folder)))
    save_predictor(predictor, tmp_path, SIZE, {"model": about, "hidden": 32})
    about_it = about_predictor(tmp_path, about, 32)
    loaded = load_predictor(tmp_path, about_it, CPU, "float32")
    with torch.inference_mode():
        assert torch.equal(loaded(hidden), predicted)
        short = load_predictor(tmp_path, about_it, CPU, "bfloat16")(hidden.bfloat16()).float()
    assert float((short - predicted).abs().max()) < 0.1 * float(predicted.max())


def test_steps_are_counted_in_traces():
    assert Training().steps(256) == 15
    assert Training().steps(257) == 30
    assert Training(epochs=2, batch=3).steps(7) == 6


def test_batch_is_the_mean_over_the_tokens_of_its_traces(monkeypatch):
    """Whatever is given to the predictor at a time: gradients and loss are those of all tokens."""
    numbers = torch.Generator().manual_seed(0)
    found = [
        Labelled(
            torch.randn(tokens, 8, generator=numbers), torch.rand(tokens, generator=numbers) / 1000
        )
        for tokens in (5, 17, 2)
    ]
    how = Training(epochs=1, batch=3)
    whole = new_predictor(8, SIZE, 0)
    wanted = target(torch.cat([labels.received for labels in found]), "llama")
    counts = torch.where((wanted >= how.low) & (wanted < how.high), how.weight, 1.0)
    assert len(set(counts.tolist())) == 2
    predicted = whole(torch.cat([labels.hidden for labels in found]))
    loss = (counts * (predicted - wanted) ** 2).mean()
    loss.backward()
    parts = new_predictor(8, SIZE, 0)
    monkeypatch.setattr(predictors, "CHUNK", 7)
    total = predictors._gradients(parts, found, "llama", how, CPU)
    assert total == pytest.approx(float(loss.detach()))
    for wanted_of, found_of in zip(whole.parameters(), parts.parameters(), strict=True):
        torch.testing.assert_close(found_of.grad, wanted_of.grad)


def test_hidden_states_stay_on_the_disk(folder, tmp_path):
    trace = Trace("a", (1, 2), (3, 4, tiny.THOUGHT, 5))
    for _ in range(2):  # made, then found
        found = labels_of(model_of(folder, "sdpa"), [trace], tiny.THOUGHT, tmp_path)
        [file] = tmp_path.glob("*.safetensors")
        assert f" {file}\n" in Path("/proc/self/maps").read_text()
        assert found[0].hidden.shape == (2, 32)


def test_labels_are_made_once(folder, tmp_path, monkeypatch):
    model = model_of(folder, "sdpa")
    traces = [Trace("a", (1, 2), (3, 4, tiny.THOUGHT, 5)), Trace("b", (1, 2), (3, 4))]
    first = labels_of(model, traces, tiny.THOUGHT, tmp_path)
    assert len(first) == 1
    made = []
    monkeypatch.setattr(predictors, "labelled", lambda *arguments: made.append(arguments))
    second = labels_of(model, traces, tiny.THOUGHT, tmp_path)
    assert torch.equal(first[0].received, second[0].received)
    assert len(made) == 1  # of the second trace, which has no answer
    with pytest.raises(CannotRun, match=r"none of 1 traces has a thought, </think> and an answer"):
        labels_of(model, traces[1:], tiny.THOUGHT, tmp_path)


# --- what is refused ------------------------------------------------------------------------------

MODEL = {"id": "m", "revision": None, "sha256": "a" * 64}


@pytest.fixture
def saved(tmp_path):
    save_predictor(new_predictor(32, SIZE, 0), tmp_path, SIZE, {"model": MODEL, "hidden": 32})
    return tmp_path


def test_no_predictor_is_told(tmp_path):
    with pytest.raises(CannotRun) as refused:
        about_predictor(tmp_path, MODEL, 32)
    assert refused.value.message == (
        f"there is no predictor in {tmp_path}\n"
        "  expected: predictor.safetensors and predictor.json, which the scorer importance needs; "
        "none is published\n"
        "  fix:      train one (python docs/reproduce/train_predictor.py --model … --out "
        f"{tmp_path}), name another folder with --predictor, or take another --scorer"
    )


@pytest.mark.parametrize(
    ("model", "hidden"),
    [({**MODEL, "id": "other"}, 32), ({**MODEL, "sha256": "b"}, 32), (MODEL, 64)],
)
def test_predictor_of_another_model_is_refused(saved, model, hidden):
    with pytest.raises(CannotRun) as refused:
        about_predictor(saved, model, hidden)
    assert refused.value.message == (
        f"the predictor in {saved} is for m (width 32), and the model is {model['id']} "
        f"(width {hidden})\n"
        "  expected: a predictor that was trained on this model's hidden states\n"
        "  fix:      name its folder with --predictor, or train one: python "
        f"docs/reproduce/train_predictor.py --model … --out {saved}"
    )


def test_damaged_predictor_is_refused(saved):
    about = about_predictor(saved, MODEL, 32)
    weights = saved / "predictor.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    with pytest.raises(CannotRun, match=r"it isn't the file that predictor\.json speaks of"):
        load_predictor(saved, about, CPU, "float32")
    (saved / "predictor.json").write_text(json.dumps({"model": MODEL}))
    with pytest.raises(CannotRun, match=r"predictor\.json can't be read: no 'hidden'"):
        about_predictor(saved, MODEL, 32)
