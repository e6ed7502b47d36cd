"""A decoder that reads and writes single characters, made from nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.digits.problems import CHARACTERS, END, Problem, ended
from gridatlas_reproduce.runner.errors import CannotRun

if TYPE_CHECKING:
    from torch import Tensor

PAD = "_"
"""Fills up shorter texts in a batch; never read and never written."""
TOKENS = {character: number for number, character in enumerate(CHARACTERS + PAD)}


@dataclass(frozen=True, slots=True)
class ModelSize:
    """Of a Llama decoder.

    Attributes:
        hidden: Width; a multiple of 2 × heads.
        layers: Number of layers.
        heads: Attention heads of each.
    """

    hidden: int = 64
    layers: int = 2
    heads: int = 4


def new_model(size: ModelSize, seed: int) -> Any:
    """A model with random weights, the same for the same seed."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(TOKENS),
            hidden_size=size.hidden,
            intermediate_size=4 * size.hidden,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            num_key_value_heads=size.heads,
            max_position_embeddings=128,
            tie_word_embeddings=True,
            eos_token_id=TOKENS[END],
            pad_token_id=TOKENS[PAD],
            bos_token_id=None,
        )
    )


def new_tokenizer() -> Any:
    """A token per character, padded on the left as generation needs it."""
    from tokenizers import Regex, Tokenizer
    from tokenizers.decoders import Fuse
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(WordLevel(TOKENS, unk_token=PAD))
    tokenizer.pre_tokenizer = Split(Regex("."), behavior="isolated")
    tokenizer.decoder = Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=PAD, padding_side="left"
    )


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer of a model in a folder, padded on the left as generation needs it."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, padding_side="left")
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return tokenizer


def load_model(folder: Path) -> Any:
    """A model as it was saved, in single precision.

    Raises:
        CannotRun: Where the folder has none, or not all of it.
    """
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM

    try:
        # Without its configuration, a model of 7 billion weights would be made.
        (folder / "config.json").read_bytes()
        model, found = AutoModelForCausalLM.from_pretrained(
            folder,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            dtype="float32",
        )
        if any(found.values()):
            raise ValueError("its weights aren't those of its config.json")
    except (OSError, ValueError, SafetensorError) as error:
        raise CannotRun(
            f"{folder} has no model that can be read: {str(error).splitlines()[0]}",
            "a model as the run saved it",
            f"remove {folder} and run the same command again: it trains it from the start",
        ) from error
    return model


def sampled(
    model: Any,
    problems: Sequence[Problem],
    seeds: Sequence[int],
    temperature: float,
    longest: int,
    tokenizer: Any = None,
) -> list[tuple[str, bool]]:
    """The model's answers to problems.

    Every answer has random numbers of its own, drawn from its own seed: it is the same whatever
    else is in the batch, and the same numbers meet every model.

    Args:
        seeds: One per problem.
        temperature: Of sampling; 0 takes the likeliest token.
        longest: Tokens after which an answer is cut off.
        tokenizer: The model's; of characters where none is given.

    Returns:
        Per problem the answer without its end, and whether it ended by itself.
    """
    import torch

    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    uniform = torch.stack([torch.rand(longest, generator=generator) for generator in generators])
    tokenizer = tokenizer or new_tokenizer()
    prompts = tokenizer([problem.prompt for problem in problems], padding=True, return_tensors="pt")
    current: Tensor = prompts["input_ids"].to(model.device)
    # Without one where no prompt is filled up: attention is another kernel then.
    given: Tensor = prompts["attention_mask"].to(model.device)
    mask = None if given.all() else given
    written: list[Tensor] = []
    cache = None
    model.eval()
    with torch.inference_mode():
        for step in range(longest):
            answer = model(
                input_ids=current, attention_mask=mask, past_key_values=cache, use_cache=True
            )
            cache = answer.past_key_values
            mask = mask if mask is None else torch.nn.functional.pad(mask, (0, 1), value=1)
            current = _drawn(answer.logits[:, -1], uniform[:, step], temperature)[:, None]
            written.append(current)
            if (torch.cat(written, dim=1) == tokenizer.eos_token_id).any(dim=1).all():
                break
    texts = tokenizer.batch_decode(torch.cat(written, dim=1))
    return [ended(text, tokenizer.eos_token) for text in texts]


def _drawn(logits: Tensor, uniform: Tensor, temperature: float) -> Tensor:
    """One character per row: the first whose cumulated probability exceeds the uniform number."""
    import torch

    if temperature == 0:
        return logits.argmax(dim=-1)
    # In double precision, so that a GPU draws the same where its logits are the same.
    cumulated = torch.softmax(logits.double() / temperature, dim=-1).cumsum(dim=-1)
    drawn = uniform[:, None].double().to(logits.device)
    return torch.searchsorted(cumulated, drawn, right=True)[:, 0].clamp(max=logits.shape[-1] - 1)
