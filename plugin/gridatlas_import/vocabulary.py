"""What names of columns say, and what levels are known: the one table of an import's knowledge.

A rule here is about names or levels that many programs write, never about one file. Names are
compared in lower case with underscores between words (`plain_name`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gridatlas.model.directions import LOWER, words_of

Kind = Literal[
    "factor",  # a setting or subject that was varied on purpose
    "plain",  # few levels, an unknown name: perhaps a factor
    "weak",  # a factor only where rows can't be told apart without it
    "repeat",  # numbers measurements of one cell
    "metric",  # a result by its name
    "performance",  # a speed: a result where no other is
    "generic",  # `value`, `score`: a result where nothing more special is
    "number",  # numbers of which most differ, an unknown name: perhaps a result
    "outcome",  # true or false, pass or fail
    "cost",  # time, size, memory: noted beside results
    "count",  # trials, successes
    "spread",  # standard deviation, standard error, interval
    "derived",  # rank, p-value
    "aggregate",  # sums up other columns
    "index",  # numbers the rows
    "book",  # keeps books: dates, ids, paths, hosts
    "state",  # says which runs failed
    "text",  # sentences, objects
    "direction",  # says which values are better
    "empty",
]
"""What a column may be."""
RESULTS: tuple[Kind, ...] = (
    "metric", "performance", "generic", "aggregate", "number", "cost", "count",
)  # fmt: skip
"""Kinds that may be the metric, in the order in which they are."""


PROPORTIONS = words_of("""
    acc accuracy pass passed em exact match success successes solved win wins correct
    genauigkeit""")
"""Words of metrics that count successes among trials."""
SHARES = PROPORTIONS | words_of("""
    f1 precision recall auc auroc roc aucpr auprc map ndcg dcg mrr iou miou dice rate share fraction
    fract percent pct percentage coverage top hits hit retrieved found detected recovered answered
    sensitivity specificity jaccard purity""")
"""Words of metrics from 0 to 1, or to 100 %."""
OF_CASES = words_of("""
    error errors failure failed fail refusal refused attack accept acceptance accepted rejection
    solve completion completed positive negative false true alarm detection compliance jailbreak
    survival mortality response resolution resolved valid invalid violation abstention agreement""")
"""What a `rate` is a share of; of taps, hearts or seizures it is one by time."""
FITTED = words_of("slope slopes intercept squared")
"""Words of what was fitted to results: never a level of one quantity."""
PERFORMANCE = words_of("""
    latency throughput speedup ttft tpot itl qps rps gflops tflops gops bandwidth fps ips speed rtfx
    rtf iops mfu hfu tflop gflop""")
"""Words of speeds: results of a benchmark of speed, noted beside results elsewhere."""
RATE = re.compile(r"\w/(?:s|sec|second)\b", re.IGNORECASE)
"""In names of speeds."""
STATISTICS = re.compile(
    r"(?i)(p|q|pct|percentile)[ _-]?\d+(\.\d+)?|\d+(th|st|%)?[ _-]?percentile|\d+%|quantiles?.*|"
    r"min|max|mean|median|avg|"
    r"average|std|stddev|sd|var|iqr|sum|count|total"
)
"""Names of statistics of one measurement."""
GENERIC = words_of("""
    median score scores value values result results metric mean avg average objective""")
"""Words of results that don't say what was measured."""
METRICS = (
    SHARES
    | LOWER
    | PERFORMANCE
    | GENERIC
    | words_of("""
        reward return bleu sacrebleu rouge rougel chrf meteor comet elo likelihood logprob r2
        spearman pearson kendall correlation corr mcc matthews kappa main psnr ssim lpips silhouette
        ap ari nmi bertscore wins hypervolume utility fitness yield""")
)
CUTS = words_of("top hit hits p r f recall precision pass map ap ar ndcg mrr iou bleu rouge")
"""Words before the number up to which a metric looks: `Top-5`, `R@1`, `AP75`, `NDCG@10`."""
FACTORS = words_of("""
    learning lr eta batch bs batchsize size window layer layers depth width dim dims hidden heads
    head temperature temp k alpha beta gamma lambda dropout decay wd budget length len seqlen
    context ratio tokens model models task tasks dataset datasets benchmark corpus setting method
    methods shots shot fewshot weight noise bits warmup optimizer optimiser scheduler schedule
    prompt template language lang subset split filter gpu gpus workers threads cores momentum
    augmentation augment activation backbone architecture arch encoder decoder loss_fn kernel degree
    estimators neighbors clusters penalty solver criterion press strategy policy algorithm algo
    approach framework variant ablation config configuration lora quantization quant precision
    precisions dtype threshold condition concurrency clients nodes env environment game level
    severity corruption lernrate batchgrosse modell datensatz compression sparsity pruning topk
    rounds difficulty domain category region country group treatment corrupted perturbation""")
"""Words of what is varied; in a name of several words the last that matters decides."""
MEASURED = words_of("size weight length len width height depth temp temperature degree noise")
"""Of these, words of what is measured elsewhere, too: then its levels don't come back evenly."""
ENTITIES = words_of("""
    model models method methods system algorithm approach framework name variant modell""")
"""Words of columns that name what each row of a leaderboard is about."""
SUBJECTS_OF_ROWS = ENTITIES | words_of("task tasks dataset datasets benchmark benchmarks")
"""Words of columns that rows are known by, beside which headings are names, too."""
COMPARED = ENTITIES | words_of("library package crate engine tool compiler implementation solver")
"""Words of columns whose levels are compared, whatever stands beside them."""
REPEATS = words_of("""
    seed seeds repeat repeats repetition rep replicate replica trial run fold bootstrap rng resample
    resamples""")
SUBJECTS = words_of("subject subj participant respondent patient animal block litter")
"""Who was measured: with numbers below them, columns that number repeats; names are levels."""
ITEMS = re.compile(
    r"(^|_)(doc|item|question|example|sample|instance|prompt|query|problem|image)_(id|idx|index|no)$"
)
"""Names of columns that number the items of a benchmark: each repeats the cell."""
NUMBERED_ITEMS = words_of("item question problem example instance query doc document")
"""Those that number items if numbers stand in them: `q13`."""
WEAK_FACTORS = words_of("""
    epoch epochs step steps iteration iterations iter checkpoint ckpt revision version date round
    year frame frames timestep timesteps""")
"""Words of how far a run was: a factor for a curve, elsewhere where a run stopped."""
CALENDAR = WEAK_FACTORS | words_of("""
    time month months week weeks day days hour hours quarter quarters season""")
"""When something was: whatever follows from it, its levels are no repeats."""
STOPPED = re.compile(
    r"(best|last|final|max|total|training|since|stopped|early)_?.*(epoch|step|iteration|iter)"
)
"""Names of where a run stopped: never a factor."""
COSTS = words_of("""
    time times duration runtime elapsed walltime wall seconds secs sec ms minutes hours memory mem
    vram ram rss flops macs gmacs macts mmacs mparams gparams params parameters param energy power
    cost price usd co2 carbon kwh joules watts mb gb mib gib bytes""")
"""Words of what a run took or how large a model is: never an axis."""
TIMES = words_of("time times seconds minutes hours duration timepoint")
"""Of these, words of times that may be set, as where something is measured after 1 and 15 min."""
SIZES = words_of("params parameters param size")
"""Of these, sizes of models: a property, but what a law of scaling is drawn over."""
MODIFIERS = words_of("""
    mean avg average test val valid validation dev eval evaluation train training final best last
    stats stat statistics at norm none percent pct macro micro weighted balanced overall total raw
    all s per""")
"""Words beside the one that matters: `mean_test_score` is a score."""
FACTOR_RATES = re.compile(
    r"(learning|dropout|drop|drop_path|sample|sampling|mask|masking|decay|compression|warmup|"
    r"keep|mutation|crossover|noise|request|arrival|retention|corruption)_(rate|fraction|share)"
)
"""`rate` as a setting; a rate of successes is a result."""
KNOWN_FACTORS = re.compile(
    r"error_type|loss_(type|fn|function|weight|scale)|score_(type|threshold)|metric_type|"
    r"(test|val|train)_?set|data_?set_name|label_smoothing|pass_at|(true|predicted|actual|pred)_?"
    r"(label|class)?|mean_function|time_?limit|time_budget|memory_budget|cost_type|mixed_precision|"
    r"(top|min|typical)_?p|top_?k|nucleus|(repetition|repeat)_penalty|no_repeat_ngram(_size)?"
)
"""Names of settings that have a word of a result in them."""
ANSWER_TOKENS = re.compile(
    r"((output|completion|generated|generation|response|reasoning|prompt|input|used|total|mean|avg|"
    r"average|median|n|num)_)*tokens(_used)?"
)
"""How long prompts or answers were, if they differ from row to row; `max_new_tokens` is set."""
TITLE_WORDS = (
    METRICS
    - GENERIC
    - words_of("""
    main top share rate return hit hits found answered detected recovered retrieved utility fitness
    yield time runtime duration seconds ms energy distance elapsed regret cost memory entropy elo
    fract fraction percent pct percentage coverage pass passed match success successes solved win
    wins correct purity hamming meteor comet reward precision error err errors""")
)
"""Words by which the title of a table says what was measured; others have other meanings there."""
COUNTS = {
    "n": words_of("""
        n n_samples num_samples samples n_trials num_trials trials n_items num_items total n_total
        num_examples n_examples count support evaluated n_evaluated num_evaluated n_eval num_eval
        n_questions num_questions n_problems num_problems n_prompts num_prompts n_test num_test"""),
    "successes": words_of("""
        successes n_successes num_successes n_correct num_correct correct n_pass passed n_passed
        wins solved"""),
    "stderr": words_of("stderr std_err std_error standard_error se sem"),
}
"""Names of the columns that are counts, or standard errors."""
SPREADS = words_of("""
    std stdev stddev sd std_dev mad variance var ci ci95 ci_low ci_high lower upper low high iqr
    margin stderr se sem standard_deviation standard_error plusminus uncertainty""")
SD_WORDS = words_of("std stdev stddev sd")
CONFIG_NAMESPACE = re.compile(
    r"(?:config|params?|hparams?|hyper_?param(?:eter)?s?|args|cfg|opts?|settings|tune)[./:]+(.+)"
    r"|params?_(?!count)(.+)",
    re.IGNORECASE,
)
"""Before the names of settings: MLflow, Weights & Biases, Ray Tune, scikit-learn, Optuna."""
RESULT_NAMESPACE = re.compile(
    r"(?:metrics?|summary|results?|scores?|eval(?:uation)?|val(?:id(?:ation)?)?|test|dev|"
    r"train(?:ing)?|perf)[./:]+(.+)",
    re.IGNORECASE,
)
"""Before the names of results."""
BOOK_NAMESPACE = re.compile(
    r"(?:(?:tags?|system|attrs|meta(?:data)?|env|info|git|slurm|timers?|hydra|runtime)[./:]|"
    r"(?:user|system)_attrs?_|_).+",
    re.IGNORECASE,
)
"""Before what a program notes about a run."""


@dataclass(frozen=True, slots=True)
class NameRule:
    """Names that are of a kind whatever stands below them.

    Attributes:
        pattern: Of the whole name in lower case with underscores.
        why: The reason, for people.
    """

    kind: Kind
    pattern: re.Pattern[str]
    why: str


def _rule(kind: Kind, pattern: str, why: str) -> NameRule:
    return NameRule(kind, re.compile(pattern), why)


NAME_RULES: tuple[NameRule, ...] = (
    _rule("direction", "higher_is_better", "says which is better"),
    _rule("derived", r"(.*_)?(p_?val(ue)?s?|q_?val(ue)?|p_adj|t_?stat(istic)?|z_?score|chi2)(_.*)?|"
          r".+_statistic|cohens?_d|hedges_g|effect_size",
          "the result of a test, computed from results"),
    _rule("derived", r"(.+_)?(vs|versus)(_.+)?|(rel|relative)(_.+)?|(.*_)?(speedup|slowdown|"
          r"delta|diff|gain|relative|ratio_to_.*|improvement)", "computed from other results"),
    _rule("derived", r"(.*_)?(ranking|rank_test.*|rank_of.*|avg_rank|mean_rank|average_rank)",
          "a place in an order, computed from results"),
    _rule("repeat", r"(.*_)?(random_state|random_seed|rng_seed)", "it numbers repeats"),
    _rule("state", r"(.*_)?(state|status|run_state|exit_?code|exit_status|failure|error_message|"
          r"info|errors?_?msg)", "says how runs ended"),
    _rule("book", r"(.*_)?(uuid|guid|hash|sha\d*|md5|commit|url|uri|link|href|host|hostname|user|"
          r"username|author|pid|ip|node_ip|logdir|log_dir|log_file|path|paths|dir|dir_name|"
          r"directory|folder|file_name|filename|root|timestamp|datetime|utc|created|created_at|"
          r"updated|updated_at|started|finished|start_time|end_time|submitted|datetime_.*|"
          r"comment|comments|remark|remarks|notes?|description|desc|tags?|sweep|github|"
          r"run_?name|experiment_name|display_name|commit_date|license|email|device_name|done|"
          r"should_checkpoint|verbose|version_?info|languages|job|job_id|slurm.*|wandb.*)",
          "keeps books about a run"),
    _rule("book", r"(.*_)?(run|trial|experiment|job|task|model|sweep|study|git|commit|host|user|"
          r"artifact|parent|group)?_?(id|ids|uid|key_id)", "an identifier"),
    _rule("aggregate", r"w?(average|avg|mean|overall|total|macro_avg|sum|all)(_(score|perf|acc|"
          r"accuracy|performance|of|on|over|rank|\d+|all|tasks|datasets?|benchmarks?))*",
          "sums up other columns"),
    _rule("cost", r"(n_|num_|total_|(number_)?of_)?(param(eter)?s?|trainable_params?)"
          r"(_count|_num|_m|_b)?|param(eter)?_count|model_size|size_(m|g|k)?b|disk_size|(g|m|t)?flops|(g|m)?macs|macts|"
          r"(image_|text_)?(gmacs|macts|mparams)|downloads|likes|stars|"
          r"(n|num|eval|total|train|max)_(timesteps|episodes|frames)",
          "a property, not a result"),
    _rule("text", r"(.*_)?(text|answer|answers|response|responses|resps|completion|completions|"
          r"question|needle|needles|target|gold|reasoning|rationale|message|output|outputs|"
          r"generation|generations|prediction|predictions|messages|arguments|stdout|traceback)",
          "texts of single cases"),
    _rule("text", r"params|config|args|hparams|kwargs|hyperparameters|settings_json|doc",
          "an object with settings"),
)  # fmt: skip
"""Read from the first to the last; the first that fits decides, before any word does."""

RUN_STATES = words_of("""
    finished complete completed success succeeded ok done running crashed failed killed error pruned
    timeout timed_out aborted cancelled canceled preempted oom terminated fail scheduled diverged
    started waiting pending""")
"""Levels of columns that say how runs ended."""
FAILED_STATES = words_of("""
    crashed failed killed error timeout timed_out aborted cancelled canceled preempted fail oom
    diverged pruned""")
RUNNING_STATES = words_of("running started waiting pending scheduled queued")
"""Of these, the states of runs that haven't ended: what they have isn't their result."""
TRUE_WORDS = words_of("true pass passed yes correct success solved ✓ ✔ ✅ right t")
FALSE_WORDS = words_of("false fail failed no incorrect failure unsolved ✗ ✘ ❌ × wrong f")
"""Texts that are 1 and 0 where they are outcomes."""
OUTCOMES = re.compile(
    r"(.*_)?(passed|pass|success|successful|succeeded|solved|correct|is_correct|won|win|outcome|"
    r"verdict|status|result|hit|resolved|valid|match|exact_match|acc|accuracy|score)(_.*)?"
)
"""Names of columns whose true and false are results, not settings."""

_RATE = (
    r"(?:(?:[kMG]?(?:t|tok|tokens?|req|requests?|it|iter|iterations?|img|imgs|images?|samples?|"
    r"examples?|sequences?|frames?|steps?|ops|rows?|queries)|"
    r"[KMGTkmg]?i?[Bb]|[kMG]?b)/s(?:ec)?)"
)
RATE_UNIT = re.compile(rf"(?<![\w/])(?:{_RATE})$")
"""A speed's unit, at the end of a name."""
UNIT = re.compile(
    rf"{_RATE}|(?:ms|s|us|µs|ns)/(?:it|iter|op|im|img|token|tok)|(?i:[kMGTP]?FLOP(?:S|/s))|"
    r"ns|[uµμ]s|ms|mins?|minutes|hr|hours|h|days?|secs?|seconds?|s|[KMGTkmg]i?[Bb]|fps|FPS|qps|QPS|IOPS|dB|[GMk]?Hz|[Xx×]|pp|bpw"
)

VISION = (
    "imagenet|cifar|mnist|svhn|coco|objectnet|caltech|food-?101|cars|sun397|eurosat|dtd|pets|"
    "flowers|stl-?10|country211|gtsrb|fgvc|pcam|resisc|kitti|voc|ade20k|cityscapes|places365|"
    "inaturalist|celeba|lsun|openimages|camelyon|fmow|iwildcam|kinetics|ucf-?101|librispeech"
)
LANGUAGE = (
    "gsm-?8k|math|mmlu|arc|hellaswag|winogrande|truthfulqa|narrativeqa|raft|civilcomments|boolq|piqa|siqa|openbookqa|obqa|"
    "humaneval|mbpp|drop|race|squad|triviaqa|naturalqs|nq|bbh|big-?bench|gpqa|ifeval|musr|aime|"
    "amc|lambada|copa|cb|rte|wic|wsc|wnli|mnli|qnli|qqp|mrpc|sst-?2|stsb?|cola|glue|superglue|"
    "anli|xnli|storycloze|mgsm|niah|ruler|longbench|infinitebench|needle|mt-?bench|alpacaeval|"
    "arena|livecodebench|swe-?bench|ceval|cmmlu|agieval|logiqa|sciq|pubmedqa|medqa|webqs|"
    "wikitext|c4|pile|ptb|enwik8|wmt|flores|xsum|cnn|samsum|nfcorpus|arguana|scifact|fiqa|"
    "hotpotqa|msmarco|scidocs|quora|fever|touche|trec|imdb|yelp|ag_?news|vt|fwe|cwe|qa"
)
BENCHMARKS = re.compile(rf"(?:{VISION}|{LANGUAGE})(?![a-z])", re.IGNORECASE)
"""How names of well-known benchmarks begin."""
MODELED = re.compile(r"(?:wikitext|c4|pile|ptb|enwik8)(?![a-z])", re.IGNORECASE)
"""Of these, texts that language models are measured on by their perplexity."""
VISION_SETS = re.compile(rf"(?:{VISION})(?![a-z])", re.IGNORECASE)
MODELS = re.compile(
    r"(?:.*[/_ -])?(?:llama|mistral|mixtral|qwen|gpt|bert|roberta|deberta|electra|t5|opt|pythia|"
    r"phi|gemma|falcon|bloom|vicuna|claude|gemini|deepseek|yi|olmo|mpt|resnet|vgg|vit|convnext|"
    r"efficientnet|mobilenet|densenet|inception|swin|deit|beit|clip|whisper|wav2vec|e5|bge|gte|"
    r"xgboost|lightgbm|catboost|svm|lstm|gru|mamba|rwkv|unet|yolo|stable-?diffusion|model|"
    r"distil\w*|albert|xlnet|bart|minilm)\w*.*|.*[_-]\d+(?:\.\d+)?[bm]\b.*",
    re.IGNORECASE,
)
"""Texts that name a model: a family's name, or a size such as 7B."""
SPLITS = words_of("train test val valid validation dev eval holdout heldout")
CONFIG_FILES = (
    ".hydra/config.yaml", "config.yaml", "config.yml", "config.json", "params.json", "params.yaml",
    "args.json", "args.yaml", "args.yml", "hparams.yaml", "hparams.json", "hyperparameters.json",
    "settings.json", "settings.yaml", "opt.yaml", "run_config.json", "training_args.json",
    ".hydra/overrides.yaml",
)  # fmt: skip
"""Files beside results that say what was varied, the most whole first."""
RESULT_FILES = re.compile(
    r"(.*[_.-])?(metrics?|results?|scores?|summary|eval|evaluation|test|val|report)([_.-].*)?",
    re.IGNORECASE,
)
"""Names (without endings) of files with results, where several kinds lie in a folder."""

LABELS = {
    "lr": "Learning rate",
    "bs": "Batch size",
    "wd": "Weight decay",
    "isl": "Input length",
    "osl": "Output length",
    "temp": "Temperature",
    "n_layers": "Layers",
    "num_layers": "Layers",
}
"""What pages call factors whose names are abbreviations."""
