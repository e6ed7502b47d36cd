"""What the data support: the sentence that a page leads with, and how surely it holds."""

from gridatlas.assessment.answers.answer import Answer, Evidence, Grade
from gridatlas.assessment.answers.cached import page_answers

__all__ = ["Answer", "Evidence", "Grade", "page_answers"]
