"""What a bench takes, and what can come of it, computed before anything is measured."""

from __future__ import annotations

from collections.abc import Sequence

from gridatlas.meter import duration
from gridatlas_reproduce.kv.bench import WARM_UP, Arm, Bench, config_of
from gridatlas_reproduce.kv.cost import GPU, LEAST_STEP, SLOWER
from gridatlas_reproduce.kv.memory import GIB
from gridatlas_reproduce.kv.models import WIDTHS
from gridatlas_reproduce.kv.roofline import Roofline, copying_traffic, mean_cache


def plan_of(bench: Bench) -> list[str]:
    """Arms, memory, hours and the computed limits, for a GPU of 80 GB; line by line."""
    arms = bench.arms(GPU)
    fitting = [arm for arm in arms if bench.fits(arm, GPU)]
    largest = max((bench.needed(arm) for arm in fitting), default=0)
    lines = [
        f"{len(fitting)} arms, {bench.repeats} repeats each, {bench.new_tokens:,} steps per repeat",
        f"{largest / GIB:.1f} GiB of GPU memory for the largest arm",
        f"GPU time, an estimate: {duration(_seconds(bench, fitting))}",
    ]
    lines += [
        f"Doesn't fit into 80 GB: {arm.decoder}, {arm.rows} rows of "
        f"{'the full cache' if arm.budget is None else 'the pruned cache'}"
        for arm in arms
        if arm not in fitting
    ]
    return [*lines, *_limits(bench)]


def _seconds(bench: Bench, arms: Sequence[Arm]) -> float:
    """By the roofline, twice over, and at least `LEAST_STEP` per step."""
    config = config_of(bench.shape)
    roofline, copying = Roofline.of(config, WIDTHS[bench.dtype]), copying_traffic(config)
    total = 0.0
    warm = set()
    for arm in arms:
        cache = mean_cache(bench.prompt, bench.new_tokens, arm.budget)
        traffic = copying if arm.decoder == "loop" else 1
        step = max(SLOWER * roofline.seconds(arm.rows, cache, traffic), LEAST_STEP)
        total += step * bench.repeats * bench.new_tokens
        if (arm.decoder, arm.rows) not in warm:
            warm.add((arm.decoder, arm.rows))
            steps = bench.trigger - bench.prompt + WARM_UP
            total += step * min(steps, bench.new_tokens)
    return total


def _limits(bench: Bench) -> list[str]:
    config = config_of(bench.shape)
    roofline, copying = Roofline.of(config, WIDTHS[bench.dtype]), copying_traffic(config)
    full = mean_cache(bench.prompt, bench.new_tokens, None)
    lines = [
        "Computed limits on an H100 (3.35 TB/s), full/pruned latency at equal rows:",
        f"rows  window  ratio  cache read once  read {copying} times",
    ]
    for rows in bench.rows:
        for budget in bench.budgets():
            cache = [mean_cache(bench.prompt, bench.new_tokens, budget)]
            [once], [often] = (roofline.gain(rows, full, cache, times) for times in (1, copying))
            lines.append(
                f"{rows:>4}  {budget.window:>6}  {budget.ratio:>5}  {once:>15.2f}  {often:>13.2f}"
            )
    longest = bench.longest(None)
    lines += [
        f"Peak KV memory, window {budget.window}, ratio {budget.ratio}: "
        f"{longest / bench.longest(budget):.2f} times less by the settings alone"
        for budget in bench.budgets()
    ]
    equal = [arm for arm in bench.arms(GPU) if arm.asks == "equal memory"]
    rates = {
        arm: arm.rows
        / roofline.seconds(arm.rows, mean_cache(bench.prompt, bench.new_tokens, arm.budget))
        for arm in equal
    }
    whole = next((arm for arm in equal if arm.budget is None), None)
    return lines + [
        f"Throughput at equal memory, window {arm.budget.window}, ratio {arm.budget.ratio}: "
        f"{arm.rows} rows beside {whole.rows}, at most {rates[arm] / rates[whole]:.2f} times more"
        for arm in equal
        if arm.budget is not None and whole is not None
    ]
