"""A KV cache of fixed slots whose rows have lengths of their own, and attention that reads it.

Nothing is copied to add a token, no key is repeated for the heads that share it, and no row sees
another. A row's numbers don't depend on what the other rows hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
BACKEND = "inductor"
"""What `torch.compile` compiles with."""
_FAR = 2**62
"""Position of an empty slot: later than any token, so that nothing attends to it."""


class SlotLayer:
    """One layer's part of the cache, as far as it is read."""

    def __init__(self, cache: SlotCache, layer: int) -> None:
        self._cache, self._layer = cache, layer

    @property
    def keys(self) -> Tensor:
        """[rows, kv heads, width, d], a view."""
        return self._cache.keys[self._layer][:, : self._cache.width].transpose(1, 2)

    @property
    def values(self) -> Tensor:
        """[rows, kv heads, width, d], a view."""
        return self._cache.values[self._layer][:, : self._cache.width].transpose(1, 2)


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
        self.layers = [SlotLayer(self, layer) for layer in range(shape[0])]
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
        return self.layers[layer].keys, self.layers[layer].values

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


class RowView:
    """A row of the cache, as scorers look at a cache of one sample."""

    def __init__(self, keys: Tensor) -> None:
        self.layers = [_Keys(part) for part in keys]


class _Keys:
    def __init__(self, keys: Tensor) -> None:
        self.keys = keys.transpose(0, 1)[None]


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
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor, **kwargs: Any
) -> tuple[Tensor, None]:
    """The same by the flash kernel, from the whole buffers and the length of each row."""
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
        num_splits=1,
    )
    return out.reshape(rows, 1, heads, d), None


def _has_kernel(device: Any, dtype: Any) -> bool:
    import torch

    return device.type == "cuda" and dtype in (torch.bfloat16, torch.float16)


def varlen_works(device: Any, dtype: Any) -> bool:
    """Whether the flash kernel is there, and gives what `grouped` gives."""
    import torch

    if not _has_kernel(device, dtype):
        return False
    config = SimpleNamespace(
        num_hidden_layers=1, num_key_value_heads=2, head_dim=64, num_attention_heads=6
    )
    cache = SlotCache(config, 3, 128, dtype, device)
    numbers = torch.Generator(device).manual_seed(0)
    for tensor in (cache.keys, cache.values):
        tensor.normal_(generator=numbers)
    query = torch.randn(3, 6, 1, 64, generator=numbers, device=device, dtype=dtype)
    cache.lengths = [0, 40, 90]
    mask = cache.begin([0, 40, 90])
    given = (
        SimpleNamespace(layer_idx=0),
        query,
        cache.layers[0].keys,
        cache.layers[0].values,
        mask,
    )
    try:
        found, _ = varlen_attention(*given, scaling=0.125, slot_cache=cache)
    except (ImportError, NotImplementedError, TypeError, ValueError, RuntimeError):
        return False
    wanted, _ = grouped_attention(*given, scaling=0.125)
    return bool((found.float() - wanted.float()).abs().max() < 0.02)


# --- compiled -------------------------------------------------------------------------------------


def compiled_forward(model: Any, cache: SlotCache) -> Any:
    """The model's layers, compiled for a batch; on CUDA as CUDA graphs, where PyTorch can.

    The slots keep their place in memory, which a graph needs. A width that changes is a number
    that the compiled code is given, after the first times.
    """
    import torch

    for tensor in (cache.keys, cache.values, cache.positions):
        torch._dynamo.mark_static_address(tensor)
    on_gpu = cache.keys.device.type == "cuda"
    mode = "reduce-overhead" if on_gpu else None
    return torch.compile(model.model, mode=mode, backend=BACKEND)


def compiler_error(device: Any) -> str | None:
    """Why nothing can be compiled for a device; None where it can."""
    import torch

    try:
        torch.compile(lambda tensor: tensor * 2 + 1, backend=BACKEND)(torch.ones(8, device=device))
    except Exception as error:  # compilers raise what they like
        return f"{type(error).__name__}: {error}".strip().splitlines()[0]
    return None


@contextmanager
def slot_attention(model: Any, reading: Reading) -> Iterator[None]:
    """While it is open the model's attention reads slots; then it is as it was."""
    from transformers import AttentionInterface

    AttentionInterface.register(
        NAME, varlen_attention if reading == "varlen" else grouped_attention
    )
    before = model.config._attn_implementation
    model.config._attn_implementation = NAME
    try:
        yield
    finally:
        model.config._attn_implementation = before
