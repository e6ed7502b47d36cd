"""The study's models, by level, and models from the hub or a folder."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gridatlas_reproduce.kv.continuous import Ends
from gridatlas_reproduce.kv.memory import GIB, Shape, enough_memory, shape_of
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage, why

LEVELS = {
    "r1-qwen": "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B",
    "r1-llama": "deepseek-ai/DeepSeek-R1-Distill-Llama-8B",
}
"""The levels of the study's factor `model`, with their ids on the hub."""
_SIZES = (
    *("model_type", "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers"),
    *("num_attention_heads", "num_key_value_heads", "tie_word_embeddings"),
)
SIZES: Mapping[str, tuple[Any, ...]] = {
    "r1-qwen": ("qwen2", 152_064, 3584, 18_944, 28, 28, 4, False),
    "r1-llama": ("llama", 128_256, 4096, 14_336, 32, 32, 8, False),
    "Qwen/Qwen2.5-0.5B": ("qwen2", 151_936, 896, 4864, 24, 14, 2, True),
    "Qwen/Qwen2.5-1.5B": ("qwen2", 151_936, 1536, 8960, 28, 12, 2, True),
    "tiny": ("qwen2", 64, 32, 64, 2, 4, 2, False),
}
"""Of models whose needs are known without a download, and of one for tests on a CPU."""
FAMILIES = {"llama": "Llama", "qwen2": "Qwen2"}
"""Families of models that it works with, by their configuration's `model_type`."""
END_OF_THOUGHT = "</think>"
WIDTHS = {"bfloat16": 2, "float16": 2, "float32": 4}
"""Bytes per number of what `--dtype` may be."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model as `--model` names it: a level, LEVEL=PATH, an id on the hub, or a folder.

    Attributes:
        level: Of the factor `model`.
        source: Id on the hub, or a folder's path.
        revision: On the hub; None for a folder.
    """

    level: str
    source: str
    revision: str | None = None

    @property
    def is_local(self) -> bool:
        """Whether it is a folder."""
        return Path(self.source).is_dir()

    @property
    def shape(self) -> Shape:
        """Its sizes; of the study's models without looking them up.

        Raises:
            CannotRun: For another model that can't be reached.
        """
        if self.level in LEVELS and not self.is_local:
            return shape_of(sizes_of(self.level))
        return shape_of(load_config(self))


def choose_model(text: str, revision: str | None = None) -> ModelChoice:
    """Read `--model`: r1-qwen, r1-qwen=./folder, owner/name, or ./folder.

    A folder or id without a level has its own name as level, in lower case; that of one of the
    study's models has its level.

    Raises:
        WrongUsage: For a folder that isn't there, or a revision of one.
    """
    level, equals, source = text.partition("=")
    if not equals:
        source = LEVELS.get(text, text)
        name = Path(source).name.lower()
        by_name = {Path(model).name.lower(): level for level, model in LEVELS.items()}
        level = by_name.get(name, re.sub(r"[^a-z0-9_.-]+", "-", name).strip("-.") or "model")
    local = Path(source).is_dir()
    if not local and (source.startswith((".", "/", "~")) or source.count("/") != 1):
        raise WrongUsage(
            f"the model {text}: there is no folder {source}",
            f"{', '.join(LEVELS)}, an id on the hub such as {LEVELS['r1-qwen']}, or a folder with "
            "a model",
            "correct --model",
        )
    if local and revision:
        raise WrongUsage(
            f"--model-revision {revision} for the folder {source}",
            "a revision only for a model on the hub",
            "leave --model-revision out",
        )
    if local:
        return ModelChoice(level, str(Path(source).absolute()))
    return ModelChoice(level, source, revision)


def sizes_of(name: str) -> SimpleNamespace:
    """What of a configuration is known of a key of `SIZES`; for transformers, too."""
    return SimpleNamespace(**dict(zip(_SIZES, SIZES[name], strict=True)))


def pinned(choice: ModelChoice) -> ModelChoice:
    """The model at a commit: without a revision the hub's present one, which the run then keeps.

    Raises:
        CannotRun: Where the hub doesn't answer.
    """
    if choice.is_local:
        return choice
    config = load_config(choice)
    commit = getattr(config, "_commit_hash", None)
    return ModelChoice(choice.level, choice.source, commit or choice.revision)


def about_model(choice: ModelChoice) -> dict[str, Any]:
    """For the manifest: id, revision, sha256 of the configuration.

    A folder is known by its name and the configuration's hash, wherever it lies.
    """
    config = load_config(choice)
    text = config.to_json_string(use_diff=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    name = Path(choice.source).name if choice.is_local else choice.source
    return {"id": name, "revision": choice.revision, "sha256": digest}


def check_family(config: Any, name: str) -> None:
    """Refuse a model whose cache isn't the one that is pruned here.

    Raises:
        CannotRun: For another family, or one with a sliding window.
    """
    expected = f"a {' or '.join(FAMILIES.values())} model, whose layers all attend to all tokens"
    fix = "give --model one of these; DeepSeek-R1-Distill-Qwen-7B and -Llama-8B are"
    if config.model_type not in FAMILIES:
        raise CannotRun(f"{name} is of the family {config.model_type}", expected, fix)
    if set(getattr(config, "layer_types", None) or ()) - {"full_attention"}:
        raise CannotRun(f"{name} has layers with a sliding window", expected, fix)


# --- loading --------------------------------------------------------------------------------------


def _loaded(what: str, kind: Any, choice: ModelChoice, **more: Any) -> Any:
    """What a class of transformers makes of a model."""
    with reaching(what, choice.source, "--model"):
        return kind.from_pretrained(choice.source, revision=choice.revision or "main", **more)


def load_config(choice: ModelChoice) -> Any:
    """The model's configuration.

    Raises:
        CannotRun: Where it can't be reached, or is of another family.
    """
    from transformers import AutoConfig

    config = _loaded("model", AutoConfig, choice)
    check_family(config, choice.source)
    return config


def load_model(choice: ModelChoice, device: Any, dtype: str) -> Any:
    """The model, ready to decode.

    Args:
        dtype: A key of `WIDTHS`.

    Raises:
        CannotRun: Where it can't be reached, or doesn't fit.
    """
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    load_config(choice)
    logging.disable_progress_bar()
    more = {"dtype": getattr(torch, dtype), "attn_implementation": "sdpa"}
    model = _loaded("model", AutoModelForCausalLM, choice, **more)
    weights = shape_of(model.config).weight_bytes(WIDTHS[dtype]) / GIB
    with enough_memory(f"{choice.source}: {weights:.1f} GiB for the weights"):
        return model.to(device).eval()


def load_tokenizer(choice: ModelChoice) -> Any:
    """The model's tokenizer.

    Raises:
        CannotRun: Where it can't be reached, or has no chat template.
    """
    from transformers import AutoTokenizer

    tokenizer = _loaded("tokenizer", AutoTokenizer, choice)
    if not tokenizer.chat_template:
        raise CannotRun(
            f"the tokenizer of {choice.source} has no chat template",
            "that of a model that answers questions",
            "give --model a reasoning model such as DeepSeek-R1-Distill-Qwen-7B",
        )
    return tokenizer


def ends_of(model: Any, tokenizer: Any) -> Ends:
    """The tokens that end a thought and an answer.

    Raises:
        CannotRun: For a tokenizer without a token for `</think>`.
    """
    thought = tokenizer.convert_tokens_to_ids(END_OF_THOUGHT)
    if thought is None or thought == tokenizer.unk_token_id:
        raise CannotRun(
            f"the tokenizer has no token {END_OF_THOUGHT}",
            "a model that thinks before it answers",
            "give --model a reasoning model such as DeepSeek-R1-Distill-Qwen-7B",
        )
    stop = model.generation_config.eos_token_id
    stop = tokenizer.eos_token_id if stop is None else stop
    return Ends(thought, frozenset(stop if isinstance(stop, list) else [stop]))


@contextmanager
def reaching(what: str, name: str, option: str) -> Iterator[None]:
    """Tells what can't be had from the hub, or from a folder, and how to fix it.

    Raises:
        CannotRun: In place of the hub's errors.
    """
    from httpx import HTTPError  # what the hub's client lets through without a network
    from huggingface_hub.errors import GatedRepoError

    try:
        yield
    except (OSError, ValueError, RuntimeError, HTTPError) as error:
        local = "file.jsonl" if option == "--data" else "./folder"
        cause: BaseException | None = error
        causes = []
        while cause is not None:
            causes.append(cause)
            cause = cause.__cause__ or cause.__context__
        # Of an id that isn't there the hub says that it may be gated.
        if any(isinstance(cause, GatedRepoError) for cause in causes) or "is a gated" in str(error):
            raise CannotRun(
                f"the {what} {name} is gated",
                "a token of an account whose request for access was granted",
                f"ask for access at https://huggingface.co/{_page(what)}{name}, then run "
                f"hf auth login, or give a local copy with {option} {local}",
            ) from error
        if Path(name).exists():
            raise CannotRun(
                f"the {what} {name} can't be read: {why(error)}",
                f"a {what} as transformers saves it" if option == "--model" else "a data set",
                f"correct {option}",
            ) from error
        set_ = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "ON", "YES")
        offline = " (HF_HUB_OFFLINE is set)" if set_ else ""
        raise CannotRun(
            f"the {what} {name} can't be had from the hub{offline}: {why(error)}",
            "a connection to huggingface.co, the right id and revision",
            f"correct them, or give a local copy: {option} {local}",
        ) from error


def _page(what: str) -> str:
    return "datasets/" if what == "data set" else ""
