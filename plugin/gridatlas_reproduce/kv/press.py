"""Prunes the KV cache of a Llama or Qwen2 model while it decodes, through hooks on the model."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.kv.scorers import Scorer
from gridatlas_reproduce.kv.selection import Budget, select
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage

if TYPE_CHECKING:
    from torch import Tensor

FAMILIES = {"llama": "Llama", "qwen2": "Qwen2"}
"""Families of models that it works with, by their configuration's `model_type`."""


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


class Press:
    """The state of the caches of one batch: samples of one prompt, all equally long.

    After each pass of the model the scorer sees it; where a budget is given and the cache has
    reached its trigger, the tokens that don't stay are taken out of all layers. Position ids stay
    absolute. A pass with padding is refused: its rows would have caches of different lengths.

    Attributes:
        positions: [rows, L] absolute positions of the tokens in the cache.
        protected: [rows, L]; True for tokens whose score is +∞.
        thought: [rows, 1]; whether `</think>` was among a row's tokens.
        prompt: Tokens of the prompt; `seen`: of all passes.
        prunes: How often the cache was pruned.
        longest: The largest number of tokens that the cache has held.
        kept: [rows, kept] absolute positions that stayed at the last prune; None before.
    """

    def __init__(self, scorer: Scorer, budget: Budget | None, end_of_thought: int) -> None:
        self.scorer, self.budget, self.end_of_thought = scorer, budget, end_of_thought
        self.positions: Tensor | None = None
        self.retained: Tensor | None = None
        self.prompt = self.seen = self.prunes = self.longest = 0
        self.protected: Tensor | None = None
        self.thought: Tensor | None = None

    # --- on the model -----------------------------------------------------------------------------

    @contextmanager
    def on(self, model: Any) -> Iterator[None]:
        """Prune the model's cache while this is open."""
        check_family(model.config, type(model).__name__)
        before = model.model.register_forward_pre_hook(self._before, with_kwargs=True)
        after = model.model.register_forward_hook(self._after, with_kwargs=True)
        try:
            with self.scorer.hooks(model):
                yield
        finally:
            before.remove()
            after.remove()

    def _before(
        self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        import torch

        ids = kwargs["input_ids"] if kwargs.get("input_ids") is not None else args[0]
        mask = kwargs.get("attention_mask")
        padded = mask is not None and not bool(torch.as_tensor(mask).all())
        if padded or (self.positions is None and bool((ids != ids[:1]).any())):
            raise WrongUsage(
                "a batch with padding" if padded else "a batch of different prompts",
                "copies of one prompt: their caches are pruned at the same length",
                "decode one question at a time, and its samples together",
            )
        places = torch.arange(self.seen, self.seen + ids.shape[1], device=ids.device)
        return args, kwargs | {"position_ids": places.expand(ids.shape[0], -1)}

    def _after(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None:
        ids = kwargs["input_ids"] if kwargs.get("input_ids") is not None else args[0]
        self._count(ids)
        cache = out.past_key_values
        self.scorer.observe(out.last_hidden_state, cache)
        assert self.positions is not None
        self.longest = max(self.longest, self.positions.shape[1])
        if self.budget is not None and self.positions.shape[1] >= self.budget.trigger:
            self.prune(cache)

    def _count(self, ids: Tensor) -> None:
        """Note positions, and what is protected: the prompt, `</think>` and all after it."""
        import torch

        rows, n = ids.shape
        new = torch.arange(self.seen, self.seen + n, device=ids.device).expand(rows, -1)
        if self.positions is None or self.protected is None or self.thought is None:
            self.prompt = n
            self.positions, self.protected = new, torch.ones_like(ids, dtype=torch.bool)
            self.thought = torch.zeros(rows, 1, dtype=torch.bool, device=ids.device)
        else:
            ended = (ids == self.end_of_thought).cumsum(dim=1) > 0
            after = ended | self.thought
            self.positions = torch.cat([self.positions, new], dim=1)
            self.protected = torch.cat([self.protected, after], dim=1)
            self.thought = after[:, -1:]
        self.seen += n

    # --- its state --------------------------------------------------------------------------------

    def scores(self, cache: Any) -> Tensor:
        """[rows, L]: the tokens' scores."""
        assert self.positions is not None
        return self.scorer.scores(cache, self.positions)

    def prune(self, cache: Any, scores: Tensor | None = None) -> None:
        """Take what doesn't stay out of the cache.

        The tensors of the cache are replaced, not changed, and put where the scores are.

        Args:
            cache: transformers' `DynamicCache`, or what is like it.
            scores: Where they were worked out before.
        """
        assert self.budget is not None
        assert self.positions is not None
        assert self.protected is not None
        scores = self.scores(cache) if scores is None else scores
        index = select(scores, self.protected, self.positions < self.prompt, self.budget)
        for layer in cache.layers:
            layer.keys = _gathered(layer.keys, index)
            layer.values = _gathered(layer.values, index)
        self.scorer.keep(index)
        self.positions = self.retained = self.positions.gather(1, index)
        self.protected = self.protected.gather(1, index)
        self.prunes += 1

    def rows(self, index: Tensor) -> None:
        """Only these rows are decoded further; the cache's are chosen by the caller."""
        assert self.positions is not None
        assert self.protected is not None
        assert self.thought is not None
        self.positions, self.protected = self.positions[index], self.protected[index]
        self.thought = self.thought[index]
        self.scorer.rows(index)

    def fork(self, budget: Budget | None) -> Press:
        """Another one in the same state, with a budget of its own."""
        other = copy.copy(self)
        other.scorer, other.budget = self.scorer.fork(), budget
        return other


def _gathered(tensor: Tensor, index: Tensor) -> Tensor:
    """The tokens of [rows, heads, L, d] at [rows, kept]; brought to the index's device."""
    _, heads, _, d = tensor.shape
    where = index.to(tensor.device)[:, None, :, None].expand(-1, heads, -1, d)
    return tensor.gather(2, where).to(index.device)
