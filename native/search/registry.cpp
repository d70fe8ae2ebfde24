#include "search/registry.hpp"

#include "lookup.hpp"
#include "search/cg_ilao_star.hpp"
#include "search/ilao_star.hpp"
#include "search/lrtdp.hpp"
#include "search/puct.hpp"
#include "search/ssipp.hpp"
#include "search/value_iteration.hpp"

namespace asnets {

namespace {

template <typename Planner>
std::unique_ptr<Solver> make(const Task& task, const SuccessorGenerator& generator, const SolverConfig& config) {
  return std::make_unique<Planner>(task, generator, config);
}

}  // namespace

const std::vector<PlannerEntry>& planners() {
  using enum Objective;
  // Name, optimal, takes rewards, objectives, takes zero costs, starts from a policy, description, how to make it.
  static const std::vector<PlannerEntry> registry{
      {"vi", true, true, {kPenalty, kMaxprob, kLexicographic}, true, false, "interval value iteration over all reachable states",
       make<ValueIteration>},
      {"lrtdp", true, false, {kPenalty, kMaxprob}, true, true, "labelled real-time dynamic programming", make<Lrtdp>},
      {"ilao", true, false, {kPenalty, kMaxprob}, true, true, "ILAO*: passes over the greedy policy's graph", make<IlaoStar>},
      {"cgilao", true, false, {kPenalty, kMaxprob}, true, true, "CG-iLAO*: ILAO* that looks only at actions that matter",
       make<CgIlaoStar>},
      {"ssipp", false, false, {kPenalty}, false, false, "SSiPP: replanning with short-sighted SSPs", make<Ssipp>},
      {"puct", false, false, {kPenalty}, false, false, "PUCT: tree search by simulations", make<Puct>},
  };
  return registry;
}

const PlannerEntry& find_planner(const std::string& name) { return find_entry(planners(), name, "planner"); }

}  // namespace asnets
