#include <nanobind/stl/string.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "bindings_types.hpp"
#include "heuristics/registry.hpp"
#include "online/planner_search.hpp"
#include "online/rollout_search.hpp"
#include "policy/greedy_heuristic_policy.hpp"

namespace asnets {

namespace {

Leaves find_leaves(const std::string& name) {
  for (std::uint8_t i = 0; i < std::size(kLeavesNames); ++i) {
    if (name == kLeavesNames[i]) return static_cast<Leaves>(i);
  }
  throw std::invalid_argument("unknown leaves: " + name);
}

void check_parts(const PyTask& task, const PyPolicy* policy, double seconds, std::size_t count) {
  if (policy != nullptr && &policy->task != &task) throw std::invalid_argument("the policy belongs to another task");
  if (policy != nullptr && policy->has_memory) throw std::invalid_argument("the policy has a memory");
  if ((seconds > 0) == (count > 0)) throw std::invalid_argument("expected either seconds or a count");
}

struct PyRolloutSearch : PyStepSearch {
  PyRolloutSearch(const PyTask& of, const PyPolicy* policy, const std::string& heuristic, double penalty, double seconds,
                  std::size_t count, double error_rate, std::int64_t max_steps, unsigned threads)
      : PyStepSearch{of, {}} {
    check_parts(of, policy, seconds, count);
    const HeuristicEntry& entry = find_heuristic(heuristic);
    PolicyFactory base = policy != nullptr ? policy->make : [&of, &entry, penalty] {
      return std::make_unique<GreedyHeuristicPolicy>(of.task, of.generator, entry.make(of.task), penalty);
    };
    make = [&of, base, penalty, seconds, count, error_rate, max_steps, threads] {
      return std::make_unique<RolloutSearch>(of.task, base, of.detectors(true), RolloutOptions{max_steps, penalty},
                                             StepBudget{seconds, count}, error_rate, threads);
    };
  }
};

struct PyPlannerSearch : PyStepSearch {
  PyPlannerSearch(const PyTask& of, const PyPolicy* policy, const std::string& planner, const std::string& heuristic,
                  double epsilon, double penalty, const std::string& leaves, double seconds, std::size_t count,
                  double error_rate, std::int64_t max_steps, unsigned threads, std::size_t memory)
      : PyStepSearch{of, {}} {
    check_parts(of, policy, seconds, count);
    PlannerSearchOptions options;
    options.planner = find_planner(planner).name;
    options.solver.heuristic = find_heuristic(heuristic).name;
    options.solver.epsilon = epsilon;
    options.solver.penalty = penalty;
    options.leaves = find_leaves(leaves);
    options.budget = {seconds, count};
    options.error_rate = error_rate;
    options.max_steps = max_steps;
    options.threads = threads;
    options.memory = memory;
    make = [&of, base = policy == nullptr ? PolicyFactory{} : policy->make, options] {
      return std::make_unique<PlannerSearch>(of.task, of.generator, base, of.detectors(true), options);
    };
  }
};

}  // namespace

void bind_online(nb::module_& module) {
  nb::class_<PyRolloutSearch, PyStepSearch>(module, "RolloutSearch", "One step of policy improvement by paired rollouts.")
      .def(nb::init<const PyTask&, const PyPolicy*, const std::string&, double, double, std::size_t, double, std::int64_t,
                    unsigned>(),
           nb::arg("task"), nb::arg("policy").none(), nb::arg("heuristic"), nb::arg("penalty"), nb::arg("seconds"),
           nb::arg("count"), nb::arg("error_rate"), nb::arg("max_steps"), nb::arg("threads"), nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 3>(),
           "Rollouts are those of the policy, or of the greedy policy of the heuristic where there is none. Of seconds and "
           "count, the budget of a step, one is 0.");
  nb::class_<PyPlannerSearch, PyStepSearch>(
      module, "PlannerSearch", "A planner that searches on before each step, and a guard between it and the policy.")
      .def(nb::init<const PyTask&, const PyPolicy*, const std::string&, const std::string&, double, double,
                    const std::string&, double, std::size_t, double, std::int64_t, unsigned, std::size_t>(),
           nb::arg("task"), nb::arg("policy").none(), nb::arg("planner"), nb::arg("heuristic"), nb::arg("epsilon"),
           nb::arg("penalty"), nb::arg("leaves"), nb::arg("seconds"), nb::arg("count"), nb::arg("error_rate"),
           nb::arg("max_steps"), nb::arg("threads"), nb::arg("memory"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
           "Of seconds and count, the budget of a step, one is 0. At so many bytes of memory nothing more is searched; 0: none.");
}

}  // namespace asnets
