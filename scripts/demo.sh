#!/usr/bin/env bash
# The main job as far as it exists: generate a problem, look at it, simulate it. `make demo` runs this in .venv.
set -euo pipefail
cd "$(dirname "$0")/.."

run() {
  printf '\n$ asnets %s\n' "$*"
  asnets "$@"
}

run generate triangle-tireworld --size 6 -o demo --force
run check demo/domain.pddl demo/triangle-tire-6.pddl
run inspect demo/domain.pddl demo/triangle-tire-6.pddl
run simulate demo/domain.pddl demo/triangle-tire-6.pddl --episodes 100000 --seed 1 --trace
