"""The words of the language that the parser knows: what is accepted, and what is refused by name."""

from __future__ import annotations

DOMAIN_SECTIONS = frozenset([":types", ":constants", ":predicates", ":functions", ":action"])
FIELDS = {
    ":parameters": "a list of variables",
    ":precondition": "a condition",
    ":effect": "an effect",
}
UNSUPPORTED_FIELDS = {
    ":vars": "':vars' in an action",
    ":observe": "a sensing action",
    ":duration": "a durative action",
    ":condition": "a durative action",
}
KNOWN_REQUIREMENTS = frozenset(
    {
        ":strips",
        ":typing",
        ":equality",
        ":negative-preconditions",
        ":disjunctive-preconditions",
        ":existential-preconditions",
        ":universal-preconditions",
        ":quantified-preconditions",
        ":conditional-effects",
        ":universal-effects",
        ":existential-effects",
        ":adl",
        ":fluents",
        ":numeric-fluents",
        ":action-costs",
        ":probabilistic-effects",
        ":rewards",
        ":mdp",
        ":ssp",
        ":goal-rewards",
        ":goal-probabilities",
        ":constants",
        ":domain-axioms",
        ":derived-predicates",
        ":durative-actions",
        ":duration-inequalities",
        ":continuous-effects",
        ":timed-initial-literals",
        ":preferences",
        ":constraints",
        ":object-fluents",
        ":time",
        ":non-deterministic",
        ":nondeterministic",
        ":ucpop",
    }
)
UNSUPPORTED_SECTIONS = {
    ":durative-action": "a durative action",
    ":derived": "a derived predicate",
    ":axiom": "an axiom",
    ":process": "a process",
    ":event": "an event",
    ":constraints": "a trajectory constraint",
    ":goal-probability": "a goal probability",
    ":goal-prob": "a goal probability",
    ":timeless": "a :timeless section",
    ":safety": "a :safety section",
    ":length": "a plan length (:length)",
    ":situation": "a named situation",
    ":htn": "a task network",
    ":tasks": "a task network",
    ":task": "a task network",
    ":method": "a task network",
    ":observe": "a sensing action",
    ":belief": "a belief state",
}
UNCERTAIN_FACTS = {
    "oneof": "an uncertain initial state ('oneof')",
    "unknown": "an uncertain initial state ('unknown')",
    "or": "an uncertain initial state ('or')",
    "forall": "a quantified initial state",
    "when": "a conditional initial state",
}
