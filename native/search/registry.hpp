// The planners by name. A new one is a solver in files of its own and a line in registry.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "search/solver.hpp"

namespace asnets {

struct PlannerEntry {
  std::string name;
  bool is_optimal;  // Whether values are optimal, up to the error that ε allows, under an admissible heuristic.
  bool takes_rewards;                 // Whether costs may be negative.
  std::vector<Objective> objectives;  // Those that it is made for.
  bool takes_zero_costs;              // Whether cycles without cost do not keep it going for ever.
  bool starts_from_policy;            // Whether a policy may be given.
  std::string description;
  std::unique_ptr<Solver> (*make)(const Task& task, const SuccessorGenerator& generator, const SolverConfig& config);
};

const std::vector<PlannerEntry>& planners();
// Throws std::invalid_argument for other names.
const PlannerEntry& find_planner(const std::string& name);

}  // namespace asnets
