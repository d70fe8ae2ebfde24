"""The trained models that come with the package, one for each family of the paper, each with its card.

A card, NAME.json beside NAME.asnet, says how the model was trained, on what, and what it achieved on which problems.
Both are written by scripts/make_models.py.
"""

from asnets.models.cards import card_markdown, results_line
from asnets.models.shipped import FOLDER, find_model, load_card, model_names

__all__ = ["FOLDER", "card_markdown", "find_model", "load_card", "model_names", "results_line"]
