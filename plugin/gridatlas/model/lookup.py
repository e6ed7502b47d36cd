"""Studies, factors and levels by the names that somebody gives: found, or refused with the nearest.

Claims, templates and Python look up by these, so that a wrong name has one message everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from gridatlas.model.problems import join_names, nearest, quote
from gridatlas.model.schema import level_key


class UnknownName(KeyError):
    """A study, factor or level doesn't exist. It is a `KeyError`.

    Attributes:
        message: What doesn't exist, with the nearest name.
        expected: The valid names; empty if the message has them.
        argument: The wrong or missing argument; empty if it is none.
        near: The nearest valid name; empty if none is similar.
    """

    def __init__(
        self, message: str, expected: str = "", argument: str = "", near: str = ""
    ) -> None:
        self.message, self.expected, self.argument, self.near = message, expected, argument, near
        super().__init__(message)

    def __str__(self) -> str:
        return f"{self.message} (expected {self.expected})" if self.expected else self.message


def no_such(
    message: str, name: str, names: Iterable[str], argument: str, *, in_quotes: bool = False
) -> UnknownName:
    """The error for a name that is none of `names`, with the nearest of them."""
    names = list(names)
    near = nearest(name, names) or ""
    if near:
        message += f"; did you mean {quote(near) if in_quotes else near}?"
    return UnknownName(message, one_of(names), argument, near)


def one_of(names: Collection[str]) -> str:
    """What is expected where one of some names is."""
    return f"one of {join_names(names, 30)}" if names else "none; there is none"


def find_level(name: str, keys: Collection[str], level: object) -> str:
    """The key of a factor's level; numbers count by their value: 0.4 is 0.40.

    Args:
        name: The argument that names the factor.
        keys: The keys of its levels.

    Raises:
        UnknownName: For a level that the factor doesn't have.
    """
    try:
        key = level_key(level)
    except ValueError:
        key = str(level)
    if key not in keys:
        raise no_such(f"{name} has no level {quote(key)}", key, keys, name, in_quotes=True)
    return key


def one_cell(
    factors: Mapping[str, Collection[str]], levels: Mapping[str, object], kind: str = "axis"
) -> tuple[str, ...]:
    """The level key of each factor, as `.at(factor=level, …)` names one cell.

    Args:
        factors: The keys of their levels, by their names as arguments.
        levels: The level of each by the same names.
        kind: What the factors are called in messages.

    Raises:
        UnknownName: For a factor or level that isn't there, and a factor without a level.
    """
    for name in levels:
        if name not in factors:
            raise no_such(f"{quote(name)} is no {kind} here", name, factors, name)
    rest = [name for name in factors if name not in levels]
    if rest:
        message = f".at(...) gives one cell, so it needs {join_names(rest)} too"
        raise UnknownName(message, f"a level of every {kind}")
    return tuple(find_level(name, keys, levels[name]) for name, keys in factors.items())
