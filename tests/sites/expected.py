"""What the pages have to show, worked out from the printed documents without the package."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from site_builds import DISPUTED, DOCUMENTS, DYNTS, GRPO, ROOT, X_LEVELS

MODELS = {"r1-llama": "R1-Llama", "r1-qwen": "R1-Qwen"}
BENCHMARKS = {
    "aime24": "AIME24",
    "aime25": "AIME25",
    "amc23": "AMC23",
    "gpqa_d": "GPQA_D",
    "average": "Average",
}
SETTINGS = {
    "before": "Before GRPO",
    "after_t125": "After GRPO, temperature 1.25",
    "after_t100": "After GRPO, temperature 1.0",
}
GRIDS = [(study, grid) for study, grids in DOCUMENTS.items() for grid in grids]
OURS, OURS_PASS_8 = "digits-pass-1", "digits-pass-8"
ROLLOUTS = "digits-rollout-temperature"
OUR_SETTINGS = {
    "before": "Before GRPO",
    "grpo": "After GRPO",
    "supervised": "Control",
}
SAMPLED = {"0.6": "Sampled at 0.6", "1": "Sampled at 1.0"}
SEEDS = {"1": "Seed 1", "2": "Seed 2", "3": "Seed 3", "mean": "Mean of the seeds"}
TRAINED = {
    OURS: (OUR_SETTINGS, {"0": "Greedy", **SAMPLED}, SEEDS),
    # A greedy model has one answer.
    OURS_PASS_8: (OUR_SETTINGS, SAMPLED, SEEDS),
    ROLLOUTS: (
        {
            "before": "Before GRPO",
            "grpo-1.25": "GRPO (rollout temperature 1.25)",
            "grpo-1.0": "GRPO (rollout temperature 1.0)",
            "supervised": "Supervised control",
        },
        {"0": "Greedy", "1": "Sampled at 1.0"},
        SEEDS,
    ),
}
"""Trainings, evaluation temperatures and training seeds of our studies."""
MEASURED = [
    (study, f"{setting}/{temperature}/{seed}")
    for study, (settings, temperatures, seeds) in TRAINED.items()
    for setting in settings
    for temperature in temperatures
    for seed in seeds
]
"""The grids that no document prints: runs of a script measured them."""
TRIALS = {"aime24": 150, "aime25": 150, "amc23": 200, "gpqa_d": 990}
"""Five samples of each problem; of an average there is no number of trials."""
SAMPLES = 5

Point = tuple[str, str]
"""Level of x, level of y."""


@dataclass(frozen=True)
class Shown:
    """The value that a cell shows."""

    text: str
    disputed: bool = False


FORMER = ("digits-grpo-ours", "digits-grpo-ours-greedy")
"""Earlier names of `OURS`."""
FORMER_LEVELS = ("after_t100", "after_t125")
"""Earlier names of its level `grpo`."""


def is_former(path: str) -> bool:
    """Whether a path of the site is an earlier address of `OURS`, or of its renamed level."""
    _, study, *below = (*path.split("/"), "")
    return study in FORMER or (study == OURS and any(part in FORMER_LEVELS for part in below))


def study_of(grid: str) -> str:
    return DYNTS if "/" in grid else GRPO


def name_of(grid: str) -> str:
    model, _, benchmark = grid.partition("/")
    return f"{MODELS[model]} | {BENCHMARKS[benchmark]}" if benchmark else SETTINGS[model]


def trials(grid: str) -> int | None:
    return TRIALS.get(grid.rpartition("/")[2])


def items(grid: str) -> int | None:
    """How many problems each cell was asked."""
    n = trials(grid)
    return None if n is None else n // SAMPLES


def printed(grid: str) -> dict[Point, str | None]:
    """What the document prints, row by row from the top; None for the row with eleven values."""
    study = study_of(grid)
    return {
        (x, y): None if (study, grid, y) == DISPUTED else text
        for y, row in DOCUMENTS[study][grid].items()
        for x, text in zip(X_LEVELS[study], row, strict=(study, grid, y) != DISPUTED)
    }


def shown(grid: str) -> dict[Point, Shown]:
    """What the pages show, row by row from the top.

    Of DynTS the first reading, which is the document. Of GRPO the value that two readings give;
    where no two agree, that of the first that has one, as disputed.
    """
    first = printed(grid)
    if study_of(grid) == DYNTS:
        return {point: Shown(str(text)) for point, text in first.items()}
    others = [_reading(name, grid) for name in ("nemotron", "gemini-flash")]
    found = {}
    for point, text in first.items():
        values = [
            value for value in (text, *(other.get(point) for other in others)) if value is not None
        ]
        agreed = [value for value in values if values.count(value) > 1]
        found[point] = Shown((agreed or values)[0], disputed=not agreed)
    return found


def extreme(grid: str, pick: Callable[..., str]) -> str:
    """The highest or lowest value (`pick` is `max` or `min`) as a table has it, with its doubts.

    Where every cell with it is disputed: `94 (disputed); undisputed 84`.
    """
    cells = shown(grid).values()
    unit = " %" if study_of(grid) == DYNTS else ""
    text = pick((cell.text for cell in cells), key=Decimal)
    sure = [cell.text for cell in cells if not cell.disputed]
    if text in sure:
        return f"{text}{unit}"
    rest = f"; undisputed {pick(sure, key=Decimal)}{unit}" if sure else ""
    return f"{text}{unit} (disputed){rest}"


def _reading(name: str, grid: str) -> dict[Point, str]:
    with (ROOT / "data" / GRPO / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["x_digits"], row["y_digits"]): row["value"]
            for row in csv.DictReader(file)
            if row["setting"] == grid
        }


def rows(grid: str) -> dict[str, list[Shown]]:
    """As `shown`, by level of y."""
    found: dict[str, list[Shown]] = {}
    for (_, y), cell in shown(grid).items():
        found.setdefault(y, []).append(cell)
    return found


def differences(second: str, first: str) -> dict[str, list[str]]:
    """The texts of a difference, second minus first, by level of y from the top."""
    a, b = rows(first), rows(second)
    return {
        y: [_signed(Decimal(two.text) - Decimal(first.text)) for first, two in pairs]
        for y in a
        for pairs in [zip(a[y], b[y], strict=True)]
    }


def _signed(value: Decimal) -> str:
    return f"+{value}" if value > 0 else f"{value}".replace("-", "−")
