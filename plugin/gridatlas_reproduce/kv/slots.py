"""A KV cache of fixed slots whose rows have lengths of their own, and attention that reads it.

Nothing is copied to add a token, no key is repeated for the heads that share it, and no row sees
another. A row's numbers don't depend on what the other rows hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from torch import Tensor

Reading = Literal["grouped", "varlen"]
"""How the slots are read: `grouped` by SDPA with a mask, the heads of a key as its queries;
`varlen` by PyTorch's flash kernel with a used length per row, on CUDA."""
ROUND = 64
"""The width that is read is rounded up to a multiple of it."""
NAME = "gridatlas-slots"
_FAR = 2**62
"""Position of an empty slot: later than any token, so that nothing attends to it."""


class SlotCache:
    """Keys and values of R rows, S slots each; what transformers' models ask of a cache.

    An idle row has length 0; in a pass it writes to its slot 0, and sees nothing else.

    Attributes:
        keys, values: [layers, rows, slots, kv heads, d], zeros at first: in a slot that is masked a
            NaN would still reach its row.
        positions: [rows, slots] absolute positions of the tokens; larger than any where none is.
        lengths: Tokens per row.
        width: Slots that the present pass reads.
    """

    def __init__(self, config: Any, rows: int, slots: int, dtype: Any, device: Any) -> None:
        import torch

        head_dim = getattr(config, "head_dim", None)
        head_dim = head_dim or config.hidden_size // config.num_attention_heads
        shape = (config.num_hidden_layers, rows, slots, config.num_key_value_heads, head_dim)
        self.keys = torch.zeros(shape, dtype=dtype, device=device)
        self.values = torch.zeros(shape, dtype=dtype, device=device)
        self.positions = torch.full((rows, slots), _FAR, device=device)
        self.rows, self.slots, self.width = rows, slots, min(ROUND, slots)
        self.lengths = [0] * rows
        self.at = torch.zeros(rows, dtype=torch.long, device=device)
        self.own = self.at[:, None]
        self.every = torch.arange(rows, device=device)
        self.used = torch.ones(rows, dtype=torch.int32, device=device)

    # --- a pass -----------------------------------------------------------------------------------

    def begin(self, seen: Sequence[int]) -> Tensor:
        """Make ready for a token per row; give the mask [rows, 1, 1, width].

        Args:
            seen: Tokens that each row has ever had: the new token's absolute position.
        """
        import torch

        longest = max(self.lengths) + 1
        self.width = min(-(-longest // ROUND) * ROUND, self.slots)
        device = self.positions.device
        self.at = torch.tensor(self.lengths, device=device)
        self.own = torch.tensor(seen, device=device)[:, None]
        self.used = (self.at + 1).int()
        self.positions[self.every, self.at] = self.own[:, 0]
        places = torch.arange(self.width, device=device)
        return (places[None] <= self.at[:, None])[:, None, None]

    def update(
        self, keys: Tensor, values: Tensor, layer: int, kwargs: Any = None
    ) -> tuple[Tensor, Tensor]:
        """Put a token per row, [rows, kv heads, 1, d], to a layer, and give what is read of it."""
        self.keys[layer][self.every, self.at] = keys[:, :, 0]
        self.values[layer][self.every, self.at] = values[:, :, 0]
        return self.read(layer)

    def read(self, layer: int) -> tuple[Tensor, Tensor]:
        """What is read of a layer: two views [rows, kv heads, width, d]."""
        keys, values = self.keys[layer][:, : self.width], self.values[layer][:, : self.width]
        return keys.transpose(1, 2), values.transpose(1, 2)

    def end(self, active: Sequence[int]) -> None:
        """Count the token of the rows that aren't idle."""
        for row in active:
            self.lengths[row] += 1

    def get_seq_length(self, layer: int = 0) -> int:
        """Of the longest row; positions and masks don't come from it."""
        return max(self.lengths)

    # --- a row ------------------------------------------------------------------------------------

    def fill(self, row: int, keys: Tensor, values: Tensor, positions: Tensor) -> None:
        """Put a sample into a row: [layers, L, kv heads, d], and positions [L]."""
        length = positions.shape[0]
        self.keys[:, row, :length] = keys.to(self.keys.device)
        self.values[:, row, :length] = values.to(self.keys.device)
        self.positions[row] = _FAR
        self.positions[row, :length] = positions.to(self.positions.device)
        self.lengths[row] = length

    def taken(self, row: int) -> tuple[Tensor, Tensor, Tensor]:
        """A copy of a row, as `fill` takes it."""
        length = self.lengths[row]
        keys, values = self.keys[:, row, :length], self.values[:, row, :length]
        return keys.clone(), values.clone(), self.positions[row, :length].clone()

    def compact(self, row: int, index: Tensor) -> None:
        """Only these tokens of a row stay, in the order of `index` [kept], at its front."""
        length = index.shape[0]
        for tensor in (self.keys, self.values):
            tensor[:, row, :length] = tensor[:, row, index]
        positions = self.positions[row, index]
        self.positions[row] = _FAR
        self.positions[row, :length] = positions
        self.lengths[row] = length

    def leave(self, row: int) -> None:
        """The row is idle from now on."""
        self.positions[row] = _FAR
        self.lengths[row] = 0


# --- attention ------------------------------------------------------------------------------------


def grouped_attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor, **kwargs: Any
) -> tuple[Tensor, None]:
    """One query per row, [rows, heads, 1, d]; the heads that share a key are its queries."""
    import torch

    rows, heads, _, d = query.shape
    grouped = query.reshape(rows, key.shape[1], heads // key.shape[1], d)
    out = torch.nn.functional.scaled_dot_product_attention(
        grouped, key, value, attn_mask=attention_mask, scale=kwargs["scaling"]
    )
    return out.reshape(rows, 1, heads, d), None


def varlen_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor,
    splits: int | None = 1,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """The same by the flash kernel, from the whole buffers and the length of each row.

    Args:
        splits: Parts that a row's tokens are read in at the same time; None leaves that to the
            kernel, which is faster where rows are few, and depends on the other rows.
    """
    from torch.nn.attention.varlen import varlen_attn

    cache: SlotCache = kwargs["slot_cache"]
    rows, heads, _, d = query.shape
    layer = module.layer_idx
    ends = (cache.used.new_ones(rows + 1).cumsum(0) - 1).int()
    out = varlen_attn(
        query.reshape(rows, heads, d),
        cache.keys[layer].flatten(0, 1),
        cache.values[layer].flatten(0, 1),
        ends,
        ends * cache.slots,
        1,
        cache.width,
        scale=kwargs["scaling"],
        enable_gqa=heads != key.shape[1],
        seqused_k=cache.used,
        num_splits=splits,
    )
    return out.reshape(rows, 1, heads, d), None


def _has_kernel(device: Any, dtype: str) -> bool:
    return device.type == "cuda" and dtype in ("bfloat16", "float16")


def varlen_error(device: Any, dtype: str) -> str | None:
    """Why the flash kernel can't be taken; None where it is there, and gives what SDPA gives."""
    import torch

    if not _has_kernel(device, dtype):
        return f"it isn't there for {device.type} and {dtype}"
    config = SimpleNamespace(
        num_hidden_layers=1, num_key_value_heads=2, head_dim=64, num_attention_heads=6
    )
    cache = SlotCache(config, 3, 128, getattr(torch, dtype), device)
    numbers = torch.Generator(device).manual_seed(0)
    for tensor in (cache.keys, cache.values):
        tensor.normal_(generator=numbers)
    query = torch.randn(3, 6, 1, 64, generator=numbers, device=device).to(cache.keys.dtype)
    cache.lengths = [0, 40, 90]
    mask = cache.begin([0, 40, 90])
    given = (SimpleNamespace(layer_idx=0), query, *cache.read(0), mask)
    try:
        found, _ = varlen_attention(*given, scaling=0.125, slot_cache=cache)
    except (ImportError, NotImplementedError, TypeError, ValueError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    wanted, _ = grouped_attention(*given, scaling=0.125)
    error_found = float((found.float() - wanted.float()).abs().max())
    return None if error_found < 0.02 else f"it differs from SDPA by {error_found:.3g}"


def fastest_reading(device: Any, dtype: str, report: Callable[[str], None]) -> Reading:
    """The fastest way of reading the slots that works here; it is told, and why."""
    why = varlen_error(device, dtype)
    report(f"slots are read with {f'SDPA; varlen_attn: {why}' if why else 'varlen_attn'}")
    return "grouped" if why else "varlen"


@contextmanager
def slot_attention(model: Any, reading: str) -> Iterator[None]:
    """While it is open the model's attention reads slots; then it is as it was."""
    from transformers import AttentionInterface

    functions = {
        "grouped": grouped_attention,
        "varlen": varlen_attention,
        "split": partial(varlen_attention, splits=None),
    }
    AttentionInterface.register(NAME, functions[reading])
    before = model.config._attn_implementation
    model.config._attn_implementation = NAME
    try:
        yield
    finally:
        model.config._attn_implementation = before


def slot_pass(
    model: Any, cache: SlotCache, reading: str, tokens: Sequence[int], seen: Sequence[int]
) -> Tensor:
    """Pass a token of each row through the model; [rows, width] after the final norm.

    Args:
        tokens: Of each row.
        seen: Tokens that each row has ever had before it.
    """
    import torch

    mask = cache.begin(seen)
    with slot_attention(model, reading):
        hidden: Tensor = model.model(
            input_ids=torch.tensor(tokens, device=cache.own.device)[:, None],
            attention_mask=mask,
            position_ids=cache.own,
            cache_position=cache.own[0],
            past_key_values=cache,
            use_cache=True,
            slot_cache=cache,
        ).last_hidden_state
    return hidden[:, -1]
