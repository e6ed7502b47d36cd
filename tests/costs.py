"""What tests cost: seconds of the processor, which differ less between machines than the clock's.

Those of the test, of the fixtures made for it, and of all processes that either started, ended or
not. `CI=true` prints them by folder, beside the folder's budget, with the dearest tests;
`--costs FILE` writes all. Else nothing is counted: to look at all processes of Chromium takes 4 ms.
"""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

BUDGETS = {
    "tests/browser": 200, "tests/golden": 40, "tests/sites": 130, "tests/unit": 90,
    "tests/hostile": 50, "tests/repository": 40, "tests/faults": 35,
    "tests/workflows": 35, "tests/hosts": 15,
    "tests/cases": 5,
}  # fmt: skip
"""Seconds of the processor, of 600 in all: five minutes on two processors. They are printed beside
what was used; nothing fails by them."""

_TICKS = os.sysconf("SC_CLK_TCK")
_SHOWN = 20

# What a report carries from the process that ran the test: of its own, and of each fixture.
_OWN = "costs_own"
_FIXTURES = "costs_fixtures"


def _children(pid: str) -> Iterator[str]:
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for task in tasks:
        try:
            children = Path(f"/proc/{pid}/task/{task}/children").read_text().split()
        except OSError:
            continue
        for child in children:
            yield child
            yield from _children(child)


def _ticks(pid: str) -> tuple[int, int]:
    """A process's own ticks, and those of children that ended and that it waited for."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0, 0
    # Behind the name, which may hold anything.
    user, system, children_user, children_system = map(int, stat.rpartition(")")[2].split()[11:15])
    return user + system, children_user + children_system


class Meter:
    """Adds up what this process uses, and all that it starts.

    What ended counts where somebody waited for it, as what it used beyond what was seen of it.
    Nobody waits for some of Chromium's: they count as far as they were seen.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, int]] = {}
        self._ticks = 0

    def used(self) -> float:
        """Seconds of the processor since the meter was made; it never falls."""
        own = str(os.getpid())
        seen = {pid: _ticks(pid) for pid in (own, *_children(own))}
        used = waited_for = 0
        for pid, (ticks, children) in seen.items():
            ticks_before, children_before = self._seen.get(pid, (0, 0))
            used += max(0, ticks - ticks_before)
            waited_for += max(0, children - children_before)
        ended = sum(sum(self._seen[pid]) for pid in self._seen.keys() - seen.keys())
        self._ticks += used + max(0, waited_for - ended)
        self._seen = seen
        return self._ticks / _TICKS


class Costs:
    """Notes what each test and fixture costs, and sums it up where all reports come together."""

    def __init__(self, config: pytest.Config) -> None:
        self._used = Meter().used
        self._file = config.getoption("--costs")
        self._fixtures: list[tuple[str, float]] = []
        # What fixtures that a fixture asks for cost, which isn't its own.
        self._inner = [0.0]
        self._tests: dict[str, float] = defaultdict(float)
        self._made: dict[str, list[float]] = defaultdict(list)
        self._by_folder: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":  # It is the test's.
            return (yield)
        self._inner.append(0.0)
        begun = self._used()
        try:
            return (yield)
        finally:
            cost = self._used() - begun
            own = cost - self._inner.pop()
            self._inner[-1] += cost
            self._fixtures.append((f"{fixturedef.baseid}::{fixturedef.argname}", own))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._fixtures, self._inner = [], [0.0]
        self._begun = self._used()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == "teardown":
            setattr(report, _OWN, self._used() - self._begun - self._inner[0])
            setattr(report, _FIXTURES, self._fixtures)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        own, fixtures = getattr(report, _OWN, 0.0), getattr(report, _FIXTURES, [])
        self._tests[report.nodeid] += own
        self._by_folder[_folder(report.nodeid)] += own
        for name, cost in fixtures:
            self._made[name].append(cost)
            self._by_folder[_folder(name)] += cost

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._file:
            self._write(Path(self._file))
        if not self._tests:
            return
        terminalreporter.section("seconds of the processor")
        for line in self._lines():
            terminalreporter.write_line(line)

    def _lines(self) -> Iterator[str]:
        tests = defaultdict(int)
        for test in self._tests:
            tests[_folder(test)] += 1
        yield f"{sum(self._by_folder.values()):8.1f}  all ({len(self._tests)} tests)"
        for folder, cost in sorted(self._by_folder.items(), key=lambda item: -item[1]):
            budget = f", budget {BUDGETS[folder]}" if folder in BUDGETS else ""
            yield f"{cost:8.1f}  {folder or 'all folders'} ({tests[folder]} tests{budget})"
        made = {f"{name} (made {len(all_)} times)": sum(all_) for name, all_ in self._made.items()}
        for title, costs in (("tests", self._tests), ("fixtures", made)):
            yield f"The dearest {title}:"
            for name, cost in sorted(costs.items(), key=lambda item: -item[1])[:_SHOWN]:
                yield f"{cost:8.1f}  {name}"

    def _write(self, path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["processor_s", "kind", "name"])
            for name, cost in sorted(self._tests.items()):
                writer.writerow([f"{cost:.3f}", "test", name])
            for name, all_ in sorted(self._made.items()):
                for cost in all_:
                    writer.writerow([f"{cost:.3f}", "fixture", name])


def _folder(name: str) -> str:
    """`tests/sites` of a test in it, nothing for a fixture of all folders."""
    path = name.partition("::")[0].split("/")
    return "/".join(path[:2]) if len(path) > 1 else ""
