"""Pass@1 with a pruned KV cache: which tokens a model keeps while it decodes, and what that costs.

`selection` has the rule of the budget, `scorers` what it ranks tokens by, `press` applies both to a
model's cache, `decode` samples answers, `grading` grades them, `sweep` makes units of work of it.
"""
