"""Pass@1 over local windows and ratios, as units of work: one cell and one question each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from gridatlas.reproduce.kv.decode import Decoding, Ends, Sample
from gridatlas.reproduce.kv.grading import shared_grader
from gridatlas.reproduce.kv.memory import (
    GIB,
    SPARE,
    Shape,
    check_fits,
    free_memory,
    out_of_memory,
    shape_of,
)
from gridatlas.reproduce.kv.models import (
    WIDTHS,
    ModelChoice,
    ends_of,
    load_config,
    load_model,
    load_tokenizer,
)
from gridatlas.reproduce.kv.predictor import about_predictor, load_predictor
from gridatlas.reproduce.kv.questions import Profile, Question, prompt_ids
from gridatlas.reproduce.kv.sampling import Sampling
from gridatlas.reproduce.kv.scorers import Scorer, new_scorer
from gridatlas.reproduce.kv.selection import Budget, Protect
from gridatlas.reproduce.runner.devices import choose_device
from gridatlas.reproduce.runner.progress import duration
from gridatlas.reproduce.runner.records import Row
from gridatlas.reproduce.runner.units import Unit, cell_of, seed_of

WINDOWS = (500, 1000, 2000, 3000)
RATIOS = tuple(Decimal(ratio) for ratio in ("0.1", "0.2", "0.3", "0.4", "0.5"))
WINDOW, RATIO = "local_window", "ratio"


@dataclass(frozen=True, slots=True)
class Sweep:
    """Everything that determines the results, but the model, the questions and the base seed.

    Attributes:
        model, benchmark: Levels of the study's factors.
        scorer: See `scorers.NAMES`; with `full` there is one cell, without window and ratio.
        windows, ratios: The grid.
        trigger: Tokens in the cache at which it is pruned.
        samples: Answers per question.
        batch: Samples decoded together.
        dtype, attention: What the model computes with.
    """

    model: str
    benchmark: str
    scorer: str = "importance"
    windows: tuple[int, ...] = WINDOWS
    ratios: tuple[Decimal, ...] = RATIOS
    trigger: int = 5000
    samples: int = 5
    batch: int = 5
    protect: Protect = "tie"
    profile: Profile = "official"
    dtype: str = "bfloat16"
    attention: str = "sdpa"
    sampling: Sampling = field(default_factory=Sampling)

    def settings(self) -> dict[str, Any]:
        """For the manifest; the base seed stands there by itself."""
        content = asdict(self)
        content["windows"] = list(self.windows)
        content["ratios"] = [str(ratio) for ratio in self.ratios]
        if self.scorer == "full":
            del content["windows"], content["ratios"], content["trigger"], content["protect"]
        return content

    def budgets(self) -> dict[tuple[tuple[str, str], ...], Budget | None]:
        """The cells, by their levels; None for `full`."""
        facets = {"model": self.model, "benchmark": self.benchmark}
        if self.scorer == "full":
            return {cell_of(facets): None}
        return {
            cell_of(facets | {WINDOW: window, RATIO: str(ratio)}): Budget(
                window, ratio, self.trigger, self.protect
            )
            for window in self.windows
            for ratio in self.ratios
        }

    def units(self, items: Sequence[str]) -> list[Unit]:
        """All units, question by question: the cells of one question are best done together."""
        cells = self.budgets()
        return [Unit(cell, item, self.samples) for item in items for cell in cells]

    def longest_cache(self, prompt: int) -> int:
        """The largest number of tokens that the cache of a sample ever holds."""
        longest = prompt + self.sampling.max_new_tokens
        bounds = [budget.bound(prompt) if budget else longest for budget in self.budgets().values()]
        return min(longest, max(bounds))


def question_of(unit: Unit) -> str:
    """The question: its cells are done together."""
    assert unit.item is not None
    return unit.item


class SweepWorker:
    """Holds the model; answers a question in all cells that are missing, and grades the answers."""

    def __init__(
        self,
        sweep: Sweep,
        questions: Mapping[str, Question],
        seed: int,
        model: Any,
        tokenizer: Any,
        predictor: Any = None,
    ) -> None:
        self.sweep, self.questions, self.seed = sweep, questions, seed
        self.model, self.tokenizer, self.predictor = model, tokenizer, predictor
        self.ends: Ends = ends_of(model, tokenizer)
        self.grader = shared_grader()

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        """Decode the question's beginning once, then cell by cell.

        Raises:
            CannotRun: Where the GPU's memory runs out.
        """
        import torch

        question = self.questions[question_of(group[0])]
        budgets = self.sweep.budgets()
        try:
            begun = self._begun(question)
            for unit in group:
                budget = budgets[unit.cell]
                samples: list[Sample] = []
                for decoding in begun:
                    samples += (decoding if budget is None else decoding.fork(budget).run()).samples
                yield unit, self._rows(question, samples)
        except torch.cuda.OutOfMemoryError as error:
            raise out_of_memory(error, self.sweep.batch, "--batch") from error

    def _begun(self, question: Question) -> list[Decoding]:
        """The batches of samples up to the first prune; to the end where nothing is pruned."""
        sweep = self.sweep
        prompt = prompt_ids(self.tokenizer, question, sweep.profile)
        seeds = [seed_of(self.seed, question.id, number) for number in range(sweep.samples)]
        longest = len(prompt) + sweep.sampling.max_new_tokens
        begun = []
        for start in range(0, sweep.samples, sweep.batch):
            batch = seeds[start : start + sweep.batch]
            decoding = Decoding(
                self.model, prompt, batch, sweep.sampling, self.ends, self._scorer(batch, longest)
            )
            until = None if sweep.scorer == "full" else sweep.trigger
            begun.append(decoding.run(until).prepare_forks())
        return begun

    def _scorer(self, seeds: Sequence[int], longest: int) -> Scorer:
        # Other numbers than those that the tokens are drawn with.
        own = [seed_of(seed, "random", 0) for seed in seeds]
        return new_scorer(self.sweep.scorer, predictor=self.predictor, seeds=own, longest=longest)

    def _rows(self, question: Question, samples: Sequence[Sample]) -> list[Row]:
        per_token = shape_of(self.model.config).token_bytes(WIDTHS[self.sweep.dtype])
        rows = []
        for number, sample in enumerate(samples):
            # The end isn't part of the text; `</think>` is, special token or not.
            ids = [token for token in sample.tokens if token not in self.ends.stop]
            text = self.tokenizer.decode(ids, skip_special_tokens=False)
            grade = self.grader.grade(question, text)
            rows.append(
                Row(
                    item=question.id,
                    sample=number,
                    seed=seed_of(self.seed, question.id, number),
                    text=text,
                    tokens=len(sample.tokens),
                    finish=sample.finish,
                    prediction=grade.prediction,
                    gold=question.answer,
                    correct=grade.correct,
                    seconds=round(sample.seconds, 6),
                    peak_kv_bytes=sample.peak * per_token,
                    prunes=sample.prunes,
                )
            )
        return rows


@dataclass(frozen=True, slots=True)
class SweepFactory:
    """Makes the worker, in whatever process it shall work.

    Attributes:
        predictor: Folder of the predictor; for the scorer `importance`.
        about: What the manifest says of the model.
    """

    sweep: Sweep
    questions: tuple[Question, ...]
    seed: int
    choice: ModelChoice
    about: Mapping[str, Any]
    predictor: Path | None
    device: str

    def __call__(self) -> SweepWorker:
        """Load the model.

        Raises:
            CannotRun: For no GPU, too little memory, a model that can't be had.
        """
        sweep = self.sweep
        device = choose_device(self.device)
        config = load_config(self.choice)
        tokenizer = load_tokenizer(self.choice)
        prompt = max(
            len(prompt_ids(tokenizer, question, sweep.profile)) for question in self.questions
        )
        check_fits(
            shape_of(config),
            WIDTHS[sweep.dtype],
            sweep.longest_cache(prompt),
            min(sweep.batch, sweep.samples),
            free_memory(device),
            "--batch",
        )
        predictor = None
        if self.predictor is not None:
            about = about_predictor(self.predictor, dict(self.about), config.hidden_size)
            predictor = load_predictor(self.predictor, about, device, sweep.dtype)
        model = load_model(self.choice, device, sweep.dtype, sweep.attention)
        questions = {question.id: question for question in self.questions}
        return SweepWorker(sweep, questions, self.seed, model, tokenizer, predictor)


# --- what a run takes -----------------------------------------------------------------------------

STEP = 0.030
"""Seconds per step of a 7B model, assumed for the estimate; `bench_kv.py` measures it."""
TYPICAL = 8_000
"""Tokens of an answer, assumed for the estimate."""
_PROMPT = 300
_SHARED = "; as much as the caches again, or in the RAM, for the beginning that the cells share"


def expected(sweep: Sweep, questions: int, shape: Shape) -> list[str]:
    """What a run takes, for `--dry-run`, line by line; hours are an estimate and say so."""
    cells = len(sweep.budgets())
    limit = sweep.sampling.max_new_tokens
    answers = questions * cells * sweep.samples
    width = WIDTHS[sweep.dtype]
    cache = sweep.longest_cache(_PROMPT)
    rows = min(sweep.batch, sweep.samples)
    caches = rows * cache * shape.token_bytes(width)
    weights = shape.weight_bytes(width)
    batches = questions * -(-sweep.samples // sweep.batch)

    def steps(tokens: int) -> int:
        """Passes of the model with answers of so many tokens; the beginning is decoded once."""
        first = min(tokens, max(sweep.trigger - _PROMPT, 0)) if sweep.scorer != "full" else tokens
        return batches * (first + cells * (tokens - first))

    def hours(tokens: int) -> str:
        return duration(steps(tokens) * STEP)

    typical = min(TYPICAL, limit)
    return [
        f"{questions * cells:,} units: {cells} cells × {questions} questions, "
        f"{sweep.samples} samples each",
        f"{answers * limit:,} tokens at most ({limit:,} per answer)",
        f"{(weights + caches + SPARE) / GIB:.1f} GiB of GPU memory: weights {weights / GIB:.1f}, "
        f"caches {caches / GIB:.1f} ({rows} samples of at most {cache:,} tokens), "
        f"spare {SPARE / GIB:.1f}" + ("" if sweep.scorer == "full" else _SHARED),
        f"GPU time, an estimate at {STEP * 1000:.0f} ms a step: {hours(typical)} with "
        f"{typical:,} tokens per answer, {hours(limit)} if all run to the limit",
    ]
