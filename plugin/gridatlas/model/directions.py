"""Which values of a metric are better, by the words of its name."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Better = Literal["higher", "lower"]


def words_of(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


LOWER = words_of(
    """
    loss error err errors perplexity ppl latency time times runtime duration seconds ms wer cer
    mae mse rmse mape smape nll kl divergence bpb bpc regret fid brier ece cost memory vram
    energy distance ttft tpot itl logloss mlogloss crossentropy entropy deviance misclassified
    fpr fnr risk eer der ter lpips mase crps bpd toxicity rmsle nmse hamming elapsed
    hallucination hallucinations verlust fehler
    """
)
"""Words of metrics of which less is better."""
HIGHER = words_of(
    """
    acc accuracy genauigkeit pass passed em exact match success successes solved win wins
    correct f1 precision recall auc auroc roc aucpr auprc map ndcg dcg mrr iou miou dice coverage
    hits hit sensitivity specificity jaccard purity bleu sacrebleu rouge rougel chrf meteor
    comet elo likelihood logprob r2 mcc psnr ssim silhouette ari nmi bertscore reward return
    score scores top throughput speedup qps rps flops gflops tflops gops bandwidth fps ips iops
    rtfx mfu hfu ap tps goodput kappa spearman kendall pearson tpr pesq stoi sharpe faithfulness
    groundedness retrieved recovered detected answered solve
    """
)
"""Words of metrics of which more is better."""
OF_TWO_SIDES = tuple(map(words_of, ("attack success", "jailbreak success", "self bleu")))
"""Words of metrics of which the one that is measured wants more, and who publishes it less."""
TURNED = frozenset(("neg", "negative", "minus", "negated"))
"""Words for a metric of which less is better, with its sign turned."""
LOWER_UNITS = frozenset(("ns", "us", "µs", "μs", "ms", "s", "sec", "seconds"))
"""Units of metrics of which less is better, where the name says nothing."""


def words(name: str) -> list[str]:
    """The words in a column's name: `valLoss@5` is val, loss, 5."""
    plain_letters = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    latin = plain_letters.encode("ascii", "ignore").decode()
    apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", latin.replace("IoU", "Iou"))
    return re.findall(r"[a-z][a-z0-9]*|\d+", apart.lower())


def _parts(name: str) -> set[str]:
    """The words, also without a number at their end: `bleu4` is bleu."""
    parts = words(name)
    if "per" in parts[1:]:  # What is divided by says nothing: tokens per seconds.
        parts = parts[: parts.index("per", 1)]
    plural = (part[:-1] for part in parts if part.endswith("s") and len(part) > 3)
    return {*parts, *plural, *(part.rstrip("0123456789") for part in parts)}


def direction_of(name: str, unit: str = "") -> tuple[Better | None, str]:
    """What a metric's name, else its unit, says is better, and the reason; None where silent."""
    parts = _parts(name)
    lower, higher = parts & LOWER, parts & HIGHER
    if any(each <= parts for each in OF_TWO_SIDES):
        return None, "its name can be meant either way (--better)"
    if lower and parts & TURNED:
        return "higher", f"“{min(lower)}” in its name, with its sign turned"
    if lower:
        return "lower", f"“{min(lower)}” in its name"
    if higher:
        return "higher", f"“{min(higher)}” in its name"
    if unit.partition("/")[0] in LOWER_UNITS:
        return "lower", f"its unit is {unit}"
    if re.search(r"\w/(s|sec|second)$", unit) or {*words(unit)} & HIGHER:
        return "higher", f"its unit is {unit}"
    return None, "nothing says which values are better (--better)"


def says_lower(name: str) -> bool:
    """Whether a name says that less is better, and no word of it says otherwise."""
    parts = _parts(name)
    return bool(parts & LOWER) and not parts & (HIGHER | TURNED)
