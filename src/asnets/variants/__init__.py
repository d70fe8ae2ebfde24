"""More problems out of given ones: other starts, other goals, fewer objects, several joined into one."""

from asnets.variants.making import DEFAULT_BUDGET, KINDS, Variant, make_variants, planner_solve

__all__ = ["DEFAULT_BUDGET", "KINDS", "Variant", "make_variants", "planner_solve"]
