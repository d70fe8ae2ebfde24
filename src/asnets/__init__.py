"""Action Schema Networks: generalised policies for probabilistic planning."""
