// The heuristics by name. A new one is a class in files of its own and a line in registry.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heuristics/heuristic.hpp"
#include "task.hpp"

namespace asnets {

struct HeuristicEntry {
  std::string name;
  bool is_admissible;  // Whether it never exceeds the optimal expected cost.
  bool is_safe;        // Whether it is infinite only where no goal can be reached.
  std::string description;
  std::unique_ptr<Heuristic> (*make)(const Task& task);
};

const std::vector<HeuristicEntry>& heuristics();
// Throws std::invalid_argument for other names.
const HeuristicEntry& find_heuristic(const std::string& name);

}  // namespace asnets
