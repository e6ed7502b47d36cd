"""Words in the names of columns, and what they say."""

from __future__ import annotations

import re


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PROPORTIONS = _set("acc accuracy pass em exact match success successes solved win wins correct")
"""Words of metrics that count successes among trials."""
SHARES = PROPORTIONS | _set(
    """
    f1 precision recall auc auroc auprc map ndcg mrr iou dice rate share fraction percent pct
    percentage coverage
    """
)
"""Words of metrics from 0 to 1, or to 100 %."""
LOWER = _set(
    """
    loss error err errors perplexity ppl latency time runtime duration seconds ms wer cer mae mse
    rmse nll kl divergence bpb regret fid brier ece cost memory vram energy distance ttft
    """
)
"""Words of metrics of which less is better."""
WEAK = _set("latency time runtime duration seconds ms cost memory vram energy")
"""Words of metrics that are mostly noted beside another one."""
METRICS = (
    SHARES
    | LOWER
    | _set(
        """
        score value values result reward return bleu rouge chrf elo throughput speedup likelihood
        logprob r2 spearman pearson correlation mcc kappa main metric
        """
    )
)
FACTORS = _set(
    """
    learning lr batch size window layer layers depth width dim dims hidden heads head temperature
    temp epoch epochs step steps iteration iterations k alpha beta gamma lambda dropout decay budget
    length len context ratio tokens model task dataset benchmark setting method shots shot fewshot
    weight rank noise bits warmup optimizer optimiser scheduler prompt language lang subset split
    filter gpu gpus workers params
    """
)
"""Words of what is varied, also where a metric's word stands beside them: `learning_rate`."""
REPEATS = _set("seed seeds repeat repeats rep replicate replica trial run fold")
COUNTS = {
    "n": _set(
        """
        n n_samples num_samples samples n_trials num_trials trials n_items num_items total n_total
        num_examples n_examples count
        """
    ),
    "successes": _set(
        """
        successes n_successes num_successes n_correct num_correct correct n_pass passed n_passed
        wins solved
        """
    ),
    "stderr": _set("stderr std_err std_error standard_error se sem"),
}
"""Names of the columns that are counts, or standard errors."""
DIRECTION_COLUMNS = frozenset({"higher_is_better"})
"""Columns that say which values are better."""
NOT_STDERR = re.compile(
    r"(^|_)(std|stdev|sd|std_dev|ci|ci95|lower|upper|low|high|min|max|var)(_|$)"
)
WHEN = re.compile(
    "(^|_)(date|time|timestamp|datetime|created|updated|started|finished|uuid|id|hash|sha|commit|"
    "path|url|host|hostname|user|version|revision|comment|comments|remark|config_file)(_|$)"
)
"""Names of columns that keep books about a run."""
