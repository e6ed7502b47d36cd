"""What a page shows is laid out when it is first asked for: of a page in the cache, never."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

from gridatlas.pages.figure import Section


class LazySections(Sequence[Section]):
    """The sections of a page.

    Args:
        make: Gives them.
    """

    def __init__(self, make: Callable[[], tuple[Section, ...]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> tuple[Section, ...]:
        return self._make()

    @overload
    def __getitem__(self, index: int) -> Section: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Section, ...]: ...

    def __getitem__(self, index: int | slice) -> Section | tuple[Section, ...]:
        return self._made[index]

    def __len__(self) -> int:
        return len(self._made)


class LazyContext(Mapping[str, Any]):
    """What a page's template is given.

    Args:
        given: All but what is made lazily.
        names: What `make` gives.
    """

    def __init__(
        self, given: Mapping[str, Any], names: frozenset[str], make: Callable[[], Mapping[str, Any]]
    ) -> None:
        self._given, self._names, self._make = given, names, make

    @cached_property
    def _made(self) -> Mapping[str, Any]:
        return self._make()

    def __getitem__(self, name: str) -> Any:
        return self._made[name] if name in self._names else self._given[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._given
        yield from self._names

    def __len__(self) -> int:
        return len(self._given) + len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names or name in self._given

    def with_more(self, more: Mapping[str, Any]) -> LazyContext:
        """The context with more in it, of which nothing is made yet."""
        return LazyContext({**self._given, **more}, self._names, self._make)
