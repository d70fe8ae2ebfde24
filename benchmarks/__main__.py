"""`make bench`: all measurements, one after the other."""

from benchmarks import environments, front_end, grounding, heuristics, network, policy, verification

front_end.run()
grounding.main([])
heuristics.run()
network.main()
policy.main()
environments.run()
verification.run()
