"""A decoder that reads and writes single characters, made from nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.digits.problems import CHARACTERS, END, Problem
from gridatlas_reproduce.runner.errors import CannotRun

if TYPE_CHECKING:
    from torch import Tensor

PAD = "_"
"""Fills up shorter texts in a batch; never read and never written."""


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
    tokens = {character: number for number, character in enumerate(CHARACTERS + PAD)}
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokens),
            hidden_size=size.hidden,
            intermediate_size=4 * size.hidden,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            num_key_value_heads=size.heads,
            max_position_embeddings=128,
            tie_word_embeddings=True,
            eos_token_id=tokens[END],
            pad_token_id=tokens[PAD],
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

    vocabulary = {character: number for number, character in enumerate(CHARACTERS + PAD)}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token=PAD))
    tokenizer.pre_tokenizer = Split(Regex("."), behavior="isolated")
    tokenizer.decoder = Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=PAD, padding_side="left"
    )


def load_model(folder: Path) -> Any:
    """A model as `save_model` left it.

    Raises:
        CannotRun: Where the folder has none, or not all of it.
    """
    from safetensors import SafetensorError
    from transformers import LlamaForCausalLM

    try:
        # Without its configuration, a model of 7 billion weights would be made.
        (folder / "config.json").read_bytes()
        model, found = LlamaForCausalLM.from_pretrained(
            folder, local_files_only=True, output_loading_info=True, ignore_mismatched_sizes=True
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


def ids_of(texts: Sequence[str]) -> list[list[int]]:
    """Texts as numbers of characters."""
    numbers = {character: number for number, character in enumerate(CHARACTERS + PAD)}
    return [[numbers[character] for character in text] for text in texts]


def sampled(
    model: Any,
    problems: Sequence[Problem],
    seeds: Sequence[int],
    temperature: float,
    longest: int,
) -> list[tuple[str, bool]]:
    """The model's answers to problems of one cell, whose prompts are all equally long.

    Every answer has random numbers of its own, drawn from its own seed: it is the same whatever
    else is in the batch, and the same numbers meet every model.

    Args:
        seeds: One per problem.
        temperature: Of sampling; 0 takes the likeliest character.
        longest: Characters after which an answer is cut off.

    Returns:
        Per problem the answer without its end, and whether it ended by itself.
    """
    import torch

    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    uniform = torch.stack([torch.rand(longest, generator=generator) for generator in generators])
    device = next(model.parameters()).device
    current: Tensor = torch.tensor(ids_of([problem.prompt for problem in problems]), device=device)
    written: list[Tensor] = []
    cache = None
    model.eval()
    with torch.inference_mode():
        for step in range(longest):
            answer = model(input_ids=current, past_key_values=cache, use_cache=True)
            cache = answer.past_key_values
            current = _drawn(answer.logits[:, -1], uniform[:, step], temperature)[:, None]
            written.append(current)
            if step + 1 < longest and _all_ended(written):
                break
    texts = [
        "".join((CHARACTERS + PAD)[number] for number in row)
        for row in torch.cat(written, dim=1).tolist()
    ]
    return [(text.split(END)[0], END in text) for text in texts]


def _drawn(logits: Tensor, uniform: Tensor, temperature: float) -> Tensor:
    """One character per row: the first whose cumulated probability exceeds the uniform number."""
    import torch

    if temperature == 0:
        return logits.argmax(dim=-1)
    # In double precision on the CPU, so that a GPU draws the same where its logits are the same.
    cumulated = torch.softmax(logits.double().cpu() / temperature, dim=-1).cumsum(dim=-1)
    number = torch.searchsorted(cumulated, uniform[:, None].double(), right=True)[:, 0]
    return number.clamp(max=logits.shape[-1] - 1).to(logits.device)


def _all_ended(written: Sequence[Tensor]) -> bool:
    import torch

    end = CHARACTERS.index(END)
    return bool((torch.cat(list(written), dim=1) == end).any(dim=1).all())
