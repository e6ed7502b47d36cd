"""What an expression asserts beyond the printed numbers: contrasts of cells, derived from its tree.

Numbers are sums of cells with weights. A comparison of two is a contrast where the weights of its
difference add up to 0; it quotes what is printed where all have one sign. A difference that is
compared with a number is a contrast, too: the number says how large it is as printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gridatlas.claims import tree
from gridatlas.claims.evaluation import Evaluation
from gridatlas.claims.grids import Extreme, Numbers, compare
from gridatlas.claims.values import Number, Source, Truth
from gridatlas.model.study import Levels, keyword
from gridatlas.table.coded import Bools, Rows

Floats = NDArray[np.float64]
INVERSE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
AWAY = 1e-9
"""Weights below this share of the largest are rounding."""

Kind = Literal["quote", "contrast", "alike", "every", "some", "best", "interaction", "untestable"]


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """Cells of one grid with their weights.

    Attributes:
        at: The places of the cells in the grid, row by row.
    """

    levels: Levels
    at: Rows
    weights: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A number as a sum of cells.

    Attributes:
        up, down: Among how many choices it was picked in favour of being large, or small.
        spread_of: Of a spread, the terms of which it is the highest less the lowest.
    """

    terms: tuple[Term, ...] = ()
    constant: float = 0.0
    up: int = 1
    down: int = 1
    spread_of: tuple[Term, ...] = ()

    def times(self, factor: float) -> Linear:
        """The number multiplied."""
        terms = tuple(replace(term, weights=factor * term.weights) for term in self.terms)
        up, down = (self.up, self.down) if factor >= 0 else (self.down, self.up)
        return Linear(terms, factor * self.constant, up, down)

    def plus(self, other: Linear) -> Linear:
        """The sum."""
        return Linear(
            (*self.terms, *other.terms),
            self.constant + other.constant,
            self.up * other.up,
            self.down * other.down,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A part of a statement that is tested as a whole.

    Attributes:
        kind: `quote` says only what is printed. A `contrast` is above 0 (`sign` 1), below (−1) or
            either (0); `alike` says that it is close to 0. `every` and `some` say so of contrasts
            cell by cell, whose terms are parallel. `best` says that the best of the terms' cells
            lie where `inside` is true. `interaction` says that the effects within the terms differ
            from those within the `others`.
        truth: Whether it is true as printed; None where that can't be told.
        times: What p is multiplied by, since its cells were chosen among so many.
        gap: Of each cell, how far its first number is above the second.
        beyond: The number that a difference is compared with.
    """

    kind: Kind
    truth: bool | None
    terms: tuple[Term, ...] = ()
    sign: int = 0
    times: int = 1
    others: tuple[Term, ...] = ()
    inside: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))
    gap: Floats = field(default_factory=lambda: np.zeros(0))
    beyond: float = 0.0


@dataclass(frozen=True, slots=True)
class Joined:
    """Parts of which all (`every`) are asserted, or at least one."""

    every: bool
    parts: tuple[Assertion, ...]

    @property
    def truth(self) -> bool | None:
        """As of `and` and `or`."""
        truths = [part.truth for part in self.parts]
        decides = not self.every
        return decides if decides in truths else None if None in truths else self.every


Assertion = Leaf | Joined


def leaves(of: Assertion) -> Iterable[Leaf]:
    """All parts that are tested as a whole."""
    if isinstance(of, Leaf):
        yield of
    else:
        for part in of.parts:
            yield from leaves(part)


def asserted(evaluation: Evaluation, *, contrary: bool = False) -> Assertion:
    """What an expression asserts; or, with `contrary`, what its negation does.

    Raises:
        ClaimError: As `Evaluation.result`.
    """
    found = _Reader(evaluation).truth(evaluation.root, not contrary)
    return _untestable(found) if evaluation.names_others else found


def _untestable(of: Assertion) -> Assertion:
    """What names another study or a reading is about no one design."""
    if isinstance(of, Joined):
        return replace(of, parts=tuple(map(_untestable, of.parts)))
    return of if of.kind == "quote" else replace(of, kind="untestable")


def joined(every: bool, parts: Iterable[Assertion]) -> Assertion:
    """Parts together; those of the same kind of joining are one level."""
    flat: list[Assertion] = []
    for part in parts:
        flat += part.parts if isinstance(part, Joined) and part.every == every else [part]
    return flat[0] if len(flat) == 1 else Joined(every, tuple(flat))


@dataclass(frozen=True, slots=True)
class _Reader:
    evaluation: Evaluation

    def value(self, node: tree.Node) -> Any:
        return self.evaluation.value(node)

    # --- what is true or false

    def truth(self, node: tree.Node, positive: bool) -> Assertion:
        match node:
            case tree.Logic():
                parts = (self.truth(part, positive) for part in (node.left, node.right))
                return joined((node.word == "and") == positive, parts)
            case tree.Not():
                return self.truth(node.of, not positive)
            case tree.CompareOp():
                operators = node.operators if positive else [INVERSE[of] for of in node.operators]
                links = zip(operators, pairwise(node.operands), strict=True)
                return joined(positive, (self.link(of, *sides) for of, sides in links))
            case tree.Attribute(name="all" | "any"):
                return self.cells(node.of, positive, every=(node.name == "all") == positive)
            case tree.Attribute(name="at"):
                return self.cells(node.of, positive, every=True, only=node)
            case tree.Attribute(name="all_at" | "any_at"):
                return self.best(node, positive)
        return Leaf("untestable", self.outcome(node, positive))

    def outcome(self, node: tree.Node, positive: bool) -> bool | None:
        value = self.value(node)
        truth = value.value if isinstance(value, Truth) else None
        return truth if positive or truth is None else not truth

    def link(self, operator: str, left: tree.Node, right: tree.Node) -> Leaf:
        """One comparison of two numbers."""
        found = compare(operator, self.value(left), self.value(right))
        assert isinstance(found, Truth)
        truth = found.value
        counts = [node for node in (left, right) if self.is_count(node)]
        if counts:
            return self.counted(operator, counts, truth, mirrored=counts[0] is right)
        first, second = self.linear(left), self.linear(right)
        if first is None or second is None:
            return Leaf("untestable", truth)
        if first.spread_of and second.spread_of:
            others = second.spread_of
            return Leaf("interaction", truth, first.spread_of, others=others)
        return _compared(operator, first.plus(second.times(-1.0)), truth)

    def is_count(self, node: tree.Node) -> bool:
        """Whether it is in how many cells something is true, or how many are the best."""
        return isinstance(node, tree.Attribute) and node.name in ("count", "share")

    def counted(
        self, operator: str, counts: Sequence[tree.Node], truth: bool | None, mirrored: bool
    ) -> Leaf:
        """A number of cells: what is printed, but for `in most cells`, which is a direction."""
        of = counts[0].of if isinstance(counts[0], tree.Attribute) else counts[0]
        if isinstance(self.value(of), Extreme):
            return Leaf("quote", truth)
        inner = self.cells(of, True, every=True)
        if all(leaf.kind == "quote" for leaf in leaves(inner)) or operator in ("==", "!="):
            return Leaf("quote", truth)
        if len(counts) > 1 or not isinstance(inner, Leaf) or inner.kind != "every":
            return Leaf("untestable", truth)
        up = 1 if (operator in (">", ">=")) != mirrored else -1
        number = len(inner.terms[0].at)
        terms = [replace(term, weights=term.weights / number) for term in inner.terms]
        return Leaf("contrast", truth, tuple(terms), inner.sign * up)

    def cells(
        self, node: tree.Node, positive: bool, *, every: bool, only: tree.Attribute | None = None
    ) -> Assertion:
        """What a grid of truths asserts of all its cells, of some, or of only one."""
        match node:
            case tree.Attribute(name="and_" | "or_", arguments=(other,)):
                is_all = (node.name == "and_") == positive
                parts = [
                    self.cells(of, positive, every=every, only=only) for of in (node.of, other)
                ]
                if is_all == every or all(
                    leaf.kind == "quote" for part in parts for leaf in leaves(part)
                ):
                    return joined(is_all, parts)
                return Leaf("untestable", self.over(node, positive, every, only))
            case tree.Attribute(name="not_"):
                return self.cells(node.of, not positive, every=every, only=only)
            case tree.CompareOp(operators=(operator,), operands=(left, right)):
                return self.parallel(node, operator, left, right, positive, every, only)
            case tree.Attribute(name="where" | "row" | "column"):
                return self.narrowed(node, positive, every=every, only=only)
        return Leaf("untestable", self.over(node, positive, every, only))

    def narrowed(
        self, node: tree.Attribute, positive: bool, *, every: bool, only: tree.Attribute | None
    ) -> Assertion:
        """A part of a grid of truths: its comparison over that part of both sides."""
        inner = node.of
        parts = [node]
        while isinstance(inner, tree.Attribute) and inner.name in ("where", "row", "column"):
            parts.append(inner)
            inner = inner.of
        if any(map(_chosen_by_values, parts)):
            of = self.cells(inner, positive, every=every, only=only)
            quote = all(leaf.kind == "quote" for leaf in leaves(of))
            # Of cells that were picked by their values, only what is printed can be told.
            truth = self.over(node, positive, every, only)
            return Leaf("quote" if quote else "untestable", truth)
        if isinstance(inner, tree.CompareOp) and len(inner.operators) == 1:
            left, right = inner.operands
            return self.parallel(node, inner.operators[0], left, right, positive, every, only)
        if isinstance(inner, tree.Attribute) and inner.name in ("and_", "or_", "not_"):
            # The part of a joining is the joining of parts.
            moved: list[tree.Node] = [inner.of, *inner.arguments]
            for part in reversed(parts):
                moved = [replace(part, of=of) for of in moved]
            whole = replace(inner, of=moved[0], arguments=tuple(moved[1:]))
            return self.cells(whole, positive, every=every, only=only)
        return Leaf("untestable", self.over(node, positive, every, only))

    def over(
        self, node: tree.Node, positive: bool, every: bool, only: tree.Attribute | None
    ) -> bool | None:
        """Whether a grid of truths is true in all cells, in some, or in only one."""
        if only is not None:
            return self.outcome(only, positive)
        truths = self.value(node)
        truths = truths if positive else truths.negated()
        truth: Truth = truths.all if every else truths.any
        return truth.value

    def parallel(
        self, node: tree.Node, operator: str, left: tree.Node, right: tree.Node, positive: bool,
        every: bool, only: tree.Attribute | None,
    ) -> Assertion:  # fmt: skip
        """A comparison cell by cell."""
        operator, inside = operator if positive else INVERSE[operator], self.value(node)
        first, second = self.coefficients(left), self.coefficients(right)
        truth = self.over(node, positive, every, only)
        if first is None or second is None:
            return Leaf("untestable", truth)
        coefficients = dict(first[0])
        for source, by in second[0].items():
            coefficients[source] = coefficients.get(source, 0.0) - by
        # A row of truths has its sources in the same order, each with the row that it lies in.
        moved = dict(zip(inside.sources, coefficients.values(), strict=False))
        rows = inside.rows
        if only is not None:
            point, _ = inside.cell(self.evaluation.chosen(only))
            rows = rows[[inside.points.index(point)]]
        terms = _terms(moved, rows)
        whole = _compared(operator, Linear(terms, first[1] - second[1]), truth)
        if whole.kind == "quote" or only is not None:
            return whole
        if whole.kind != "contrast":
            return Leaf("untestable", truth)
        gap = np.zeros(len(rows))
        for source, term in zip(moved, terms, strict=True):
            gap += term.weights * _floats(source.values[term.at])
        return replace(
            whole, kind="every" if every else "some", times=1 if every else len(rows),
            gap=gap,
        )  # fmt: skip

    def best(self, node: tree.Attribute, positive: bool) -> Leaf:
        """Where the best cells lie."""
        truth = self.outcome(node, positive)
        extreme = self.value(node.of)
        assert isinstance(extreme, Extreme)
        assert isinstance(node.of, tree.Attribute)
        found = self.coefficients(node.of.of)
        if found is None or len(found[0]) != 1 or min(found[0].values()) <= 0:
            return Leaf("untestable", truth)
        inside = extreme.of.chosen(self.evaluation.chosen(node))
        terms = _terms(found[0], extreme.of.rows)
        sign = 1 if node.of.name == "best" else -1
        return Leaf("best", truth, terms, sign, inside=inside if positive else ~inside)

    # --- numbers

    def linear(self, node: tree.Node) -> Linear | None:
        """A plain number as a sum of cells; None where it isn't one."""
        match node:
            case tree.Literal():
                value = self.value(node)
                number = value.value if isinstance(value, Number) else None
                return None if number is None else Linear((), float(number))
            case tree.Negative():
                of = self.linear(node.of)
                return None if of is None else of.times(-1.0)
            case tree.Arithmetic():
                return self.arithmetic(node)
            case tree.Attribute(name="value"):
                of_best = node.of
                if not isinstance(of_best, tree.Attribute):
                    return None
                extreme = self.value(of_best)
                higher = extreme.of.higher == (of_best.name == "best")
                return self.summed(of_best.of, "max" if higher else "min")
            case tree.Attribute(name="mean" | "max" | "min" | "spread" | "trend" | "at"):
                return self.summed(node.of, node.name, node)
        return None

    def arithmetic(self, node: tree.Arithmetic) -> Linear | None:
        left, right = self.linear(node.left), self.linear(node.right)
        if left is None or right is None:
            return None
        if node.operator in "+-":
            return left.plus(right.times(1.0 if node.operator == "+" else -1.0))
        if node.operator == "*" and not left.terms:
            left, right = right, left
        if right.terms or (node.operator == "/" and not right.constant):
            return None
        return left.times(right.constant if node.operator == "*" else 1 / right.constant)

    def summed(
        self, node: tree.Node, how: str, call: tree.Attribute | None = None
    ) -> Linear | None:
        """What sums up a grid of numbers."""
        found, value = self.coefficients(node), self.value(node)
        if found is None or not isinstance(value, Numbers) or not len(value.rows):
            return None
        coefficients, constant = found
        numbers = _floats(value.values)
        if how == "at" and call is not None:
            point, _ = value.cell(self.evaluation.chosen(call))
            rows = value.rows[[value.points.index(point)]]
            return Linear(_terms(coefficients, rows), constant)
        if how == "mean":
            weights = np.full(len(numbers), 1 / len(numbers))
            return Linear(_terms(coefficients, value.rows, weights), constant)
        if how == "trend" and call is not None:
            name = self.value(call.arguments[0])
            terms = _terms(coefficients, value.rows, _slope(value, keyword(name)))
            return Linear(terms)
        if not np.isfinite(numbers).any():
            return None
        ends = [int(np.nanargmax(numbers)), int(np.nanargmin(numbers))]
        high, low = (_terms(coefficients, value.rows[[end]]) for end in ends)
        number = int(np.isfinite(numbers).sum())
        if how == "max":
            return Linear(high, constant, up=number)
        if how == "min":
            return Linear(low, constant, down=number)
        spread = Linear(high).plus(Linear(low).times(-1.0))
        terms = _terms(coefficients, value.rows)
        return replace(spread, up=max(1, number * (number - 1) // 2), spread_of=terms)

    def coefficients(self, node: tree.Node) -> tuple[dict[Source, float], float] | None:
        """What each grid behind a grid of numbers is multiplied by, and what is added."""
        match node:
            case tree.GridCall():
                return dict.fromkeys(self.value(node).sources, 1.0), 0.0
            case tree.Attribute(name="row" | "column" | "where"):
                found = self.coefficients(node.of)
                if found is None or _chosen_by_values(node):
                    return None
                moved = dict(
                    zip(self.value(node.of).sources, self.value(node).sources, strict=False)
                )
                return {moved[source]: by for source, by in found[0].items()}, found[1]
            case tree.Negative():
                found = self.coefficients(node.of)
                return found and ({source: -by for source, by in found[0].items()}, -found[1])
            case tree.Arithmetic():
                return self.combined(node)
        plain = self.linear(node)
        return ({}, plain.constant) if plain is not None and not plain.terms else None

    def combined(self, node: tree.Arithmetic) -> tuple[dict[Source, float], float] | None:
        left, right = self.coefficients(node.left), self.coefficients(node.right)
        if left is None or right is None:
            return None
        if node.operator in "+-":
            by = 1.0 if node.operator == "+" else -1.0
            added = dict(left[0])
            for source, number in right[0].items():
                added[source] = added.get(source, 0.0) + by * number
            return added, left[1] + by * right[1]
        if node.operator == "*" and not left[0]:
            left, right = right, left
        if right[0] or (node.operator == "/" and not right[1]):
            return None
        by = right[1] if node.operator == "*" else 1 / right[1]
        return {source: by * number for source, number in left[0].items()}, by * left[1]


def _compared(operator: str, difference: Linear, truth: bool | None) -> Leaf:
    """A number against 0."""
    weights = [weight for term in difference.terms for weight in term.weights.tolist()]
    if operator == "==" or not weights or _one_sign(weights):
        return Leaf("quote", truth)
    if abs(sum(weights)) > AWAY * max(map(abs, weights)):
        return Leaf("untestable", truth)
    sign = {"<": -1, "<=": -1, ">": 1, ">=": 1}.get(operator, 0)
    times = {1: difference.up, -1: difference.down, 0: 1}[sign]
    # "Less than 5 apart" says that the two are alike; "more than 5 apart", which is the larger.
    bound = -difference.constant * sign < 0
    kind: Kind = "alike" if bound else "contrast"
    return Leaf(kind, truth, difference.terms, sign, times, beyond=-difference.constant)


def _one_sign(weights: Sequence[float]) -> bool:
    return all(weight >= 0 for weight in weights) or all(weight <= 0 for weight in weights)


def _floats(values: Iterable[Any]) -> Floats:
    return np.array([np.nan if number is None else float(number) for number in values])


def _terms(
    coefficients: dict[Source, float], rows: Rows, weights: Floats | None = None
) -> tuple[Term, ...]:
    """The cells at some rows of a grid, in each of the grids behind it."""
    each = np.ones(len(rows)) if weights is None else weights
    terms = []
    for source, by in coefficients.items():
        x, y = source.fixed
        across = len(source.x.levels)
        at = rows
        if x:
            at = rows * across + source.x.place(x)
        elif y and source.y is not None:
            at = rows + across * source.y.place(y)
        terms.append(Term(source.levels, at, by * each))
    return tuple(terms)


def _slope(value: Numbers, name: str) -> Floats:
    """Weights of a trend: the fitted difference between an axis's last level and its first."""
    axis = value.axes[name]
    places = value.places_on(axis)
    used = np.unique(places).tolist()
    numbers = [axis.levels[place].number for place in used]
    if None not in numbers:
        used.sort(key=lambda place: axis.levels[place].number or 0)
    steps = np.arange(len(used)) - (len(used) - 1) / 2
    slope = steps / max(float((steps**2).sum()), 1e-300) * (len(used) - 1)
    by_place = {place: at for at, place in enumerate(used)}
    rank = np.array([by_place[place] for place in places.tolist()])
    shared = np.bincount(rank, minlength=len(used))
    return np.asarray(slope[rank] / shared[rank])


def _chosen_by_values(node: tree.Attribute) -> bool:
    """Whether `.where(...)` picks cells by their values, not by their levels."""
    if node.name != "where" or not node.arguments:
        return False
    asked = [part.of for part in tree.walk(node.arguments[0]) if isinstance(part, tree.Attribute)
             and part.name == "levels"]  # fmt: skip
    by_levels = {id(part) for of in asked for part in tree.walk(of)}
    calls = [part for part in tree.walk(node.arguments[0]) if isinstance(part, tree.GridCall)]
    return any(id(call) not in by_levels for call in calls)
