"""`make bench`: all measurements, one after the other."""

from benchmarks import front_end, heuristics

front_end.run()
heuristics.run()
