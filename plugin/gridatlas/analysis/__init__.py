"""What a results table supports: answers, each with the assertions that were tested for it.

One analysis for any design of data: `table` holds the columns, `roles` guesses what each factor is,
`design` says who speaks for whom, `contrasts` tests, `questions` asks what a page asks, `answers`
chooses what leads, `words` says it. `statements` judges what others say about the same numbers.
"""
