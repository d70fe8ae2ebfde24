"""What the shell offers for a word that is being typed: the names that a command knows.

Where nothing of ours fits, the shell goes on to offer files. `asnets --install-completion` sets it up.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Mapping

from asnets.cli.topics import topic_titles
from asnets.domains import FAMILIES
from asnets.experiments.shipped import shipped_experiments
from asnets.grounding.costs import COST_MODES
from asnets.models import model_names
from asnets.planning import HEURISTICS, OBJECTIVES, PLANNERS

Offer = Callable[[str], list[tuple[str, str]]]
"""Gets what has been typed of a word; gives words and what they mean."""


def offering(words: Iterable[str] | Mapping[str, str]) -> Offer:
    """Offers words that begin with what has been typed; if they are given by what they mean, with that."""

    def offer(incomplete: str) -> list[tuple[str, str]]:
        meanings = words if isinstance(words, Mapping) else dict.fromkeys(words, "")
        return [(word, meaning) for word, meaning in meanings.items() if word.startswith(incomplete)]

    return offer


def offer_models(incomplete: str) -> list[tuple[str, str]]:
    """Shipped models, and model files."""
    files = sorted(glob.glob(f"{glob.escape(incomplete)}*.asnet"))
    return offering(dict.fromkeys(model_names(), "shipped"))(incomplete) + [(file, "file") for file in files]


def offer_exports(incomplete: str) -> list[tuple[str, str]]:
    """What `asnets export` takes: two words, shipped models, and model files."""
    words = {"mdp": "all states and actions", "random": "chance"}
    return offering(words)(incomplete) + offer_models(incomplete)


def offer_topics(incomplete: str) -> list[tuple[str, str]]:
    """Topics of `asnets help`."""
    return offering(topic_titles())(incomplete)


offer_costs = offering(COST_MODES)
offer_experiments = offering(("all", *shipped_experiments()))
offer_families = offering({family.name: family.size_meaning for family in FAMILIES.values()})
offer_formats = offering(("prism", "drn", "umb"))
offer_heuristics = offering({info.name: info.description for info in HEURISTICS.values()})
offer_objectives = offering({info.name: info.description for info in OBJECTIVES.values()})
offer_planners = offering({info.name: info.description for info in PLANNERS.values()})
