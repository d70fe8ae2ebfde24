"""`make bench`: all measurements, one after the other."""

from benchmarks import front_end, heuristics, network, policy

front_end.run()
heuristics.run()
network.main()
policy.main()
