"""`asnets models`."""

from __future__ import annotations

from typing import Annotated

import typer

from asnets.cli.completion import offering
from asnets.cli.running import print_json
from asnets.models import card_markdown, load_card, model_names, results_line


def models(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Show the card of this model.", autocompletion=offering(model_names())),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the card, or a list of all cards, as JSON.")] = False,
) -> None:
    """List the shipped models, or show the card of one.

    They come with the package, trained; cards are in Markdown. `asnets evaluate` and `asnets run` take their names in
    place of a model file; a file of that name goes first.
    """
    if name is not None:
        card = load_card(name)
        if json:
            print_json(card)
        else:
            print(card_markdown(card), end="")
        return
    cards = [load_card(each) for each in model_names()]
    if json:
        print_json(cards)
        return
    for card in cards:
        problems = [problem.removesuffix(".pddl") for problem in card["training"]["problems"]]
        print(f"{card['name']}  (domain {card['domain']}, {card['file']['bytes'] / 1000:.0f} kB)")
        print(f"    trained on {len(problems)} problems, {problems[0]} to {problems[-1]}")
        print(f"    {results_line(card)}")
    print("`asnets models NAME` shows how it was trained, and its result on each problem")
