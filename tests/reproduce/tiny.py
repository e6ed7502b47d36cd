"""Tiny models with random weights, saved as transformers saves them."""

import torch
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

CHARACTERS = [*"0123456789abcdefghijklmnopqrstuvwxyz ABCD?=+.:{}\\\n"]
SPECIAL = ["<end>", "<user>", "<assistant>", "<think>", "</think>", "<unknown>"]
TEMPLATE = (
    "{% for message in messages %}<user>{{ message['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant><think>{% endif %}"
)
FAMILIES = ("llama", "qwen2")
VOCABULARY = {token: number for number, token in enumerate([*CHARACTERS, *SPECIAL])}
THOUGHT, END = VOCABULARY["</think>"], VOCABULARY["<end>"]


def new_tokenizer():
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="<unknown>"))
    tokenizer.pre_tokenizer = Split(Regex(r"[\s\S]"), behavior="isolated")
    tokenizer.decoder = Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<end>",
        unk_token="<unknown>",
        additional_special_tokens=["<user>", "<assistant>", "<think>", "</think>"],
        chat_template=TEMPLATE,
    )


def new_config(family, **changes):
    content = {
        "vocab_size": len(VOCABULARY),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 1024,
        "eos_token_id": END,
        "bos_token_id": None,
        "pad_token_id": None,
        # Large weights: attention far from uniform, so that other tokens give other answers.
        "initializer_range": 0.3,
    }
    return AutoConfig.for_model(family, **(content | changes))


def save_tiny(folder, family, seed=0, **changes):
    torch.manual_seed(seed)
    AutoModelForCausalLM.from_config(new_config(family, **changes)).save_pretrained(folder)
    new_tokenizer().save_pretrained(folder)
    return folder
