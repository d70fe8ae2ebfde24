#include "heuristics/registry.hpp"

#include "heuristics/lm_cut.hpp"
#include "heuristics/relaxation_heuristics.hpp"
#include "heuristics/zero.hpp"
#include "lookup.hpp"

namespace asnets {

const std::vector<HeuristicEntry>& heuristics() {
  // Name, admissible, safe, description, how to make it.
  static const std::vector<HeuristicEntry> registry{
      {"zero", true, true, "0 everywhere", make_zero},
      {"hmax", true, true, "the dearest fact of the goal", make_hmax},
      {"hadd", false, true, "the facts of the goal, added up", make_hadd},
      {"hff", false, true, "a relaxed plan, from the best supporters of hadd", make_hff},
      {"lmcut", true, true, "the sum of disjunctive action landmarks (LM-cut)", make_lm_cut},
  };
  return registry;
}

const HeuristicEntry& find_heuristic(const std::string& name) { return find_entry(heuristics(), name, "heuristic"); }

}  // namespace asnets
