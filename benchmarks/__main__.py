"""`make bench`: all measurements, one after the other."""

from benchmarks import front_end

front_end.run()
