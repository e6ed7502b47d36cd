"""How far the counts of a grid can be trusted: intervals, tests, and what they assume.

Shares and their intervals are proportions from 0 to 1 unless noted otherwise. A cell's counts are
(successes, trials). Trials count as independent of one another unless noted otherwise. Where every
cell asks the same questions the counts vary less between cells than that, so the tests call too
little a difference rather than too much; about other questions of the kind they say nothing.

The modules are imported one by one, where they are needed: all but `interval` need SciPy.
"""
