"""Texts: words, sentences or tokens as players, for models of strings and of tokens; prompts of
language models; and explanations that are drawn as coloured texts.
"""

from jaxshap.texts.absences import Embedded as Embedded
from jaxshap.texts.absences import Hidden as Hidden
from jaxshap.texts.absences import MaskToken as MaskToken
from jaxshap.texts.absences import Removed as Removed
from jaxshap.texts.absences import Replaced as Replaced
from jaxshap.texts.dividing import matches as matches
from jaxshap.texts.dividing import pieces as pieces
from jaxshap.texts.dividing import sentences as sentences
from jaxshap.texts.dividing import words as words
from jaxshap.texts.drawing import as_html as as_html
from jaxshap.texts.prompts import explain_prompts as explain_prompts
from jaxshap.texts.text_explainer import explain_texts as explain_texts
from jaxshap.texts.text_explainer import text_game as text_game
from jaxshap.texts.text_explanation import TextExplanation as TextExplanation
from jaxshap.texts.text_explanation import TextExplanations as TextExplanations

__all__ = [
    "Embedded",
    "Hidden",
    "MaskToken",
    "Removed",
    "Replaced",
    "TextExplanation",
    "TextExplanations",
    "explain_prompts",
    "explain_texts",
    "matches",
    "pieces",
    "sentences",
    "text_game",
    "words",
]
