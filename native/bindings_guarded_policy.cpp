#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings_types.hpp"
#include "policy/guarded_policy.hpp"

namespace asnets {

namespace {

// None for no number, which JSON does not have.
nb::object number_or_none(double value) {
  return std::isnan(value) ? nb::object(nb::none()) : nb::object(nb::float_(value));
}

nb::object action_or_none(ActionId action) {
  return action < 0 ? nb::object(nb::none()) : nb::object(nb::int_(action));
}

nb::list to_list(const std::vector<std::int32_t>& numbers) {
  nb::list result;
  for (const std::int32_t number : numbers) result.append(number);
  return result;
}

nb::dict report_to_python(const ActionReport& report) {
  nb::dict result;
  result["action"] = report.action;
  result["prior"] = number_or_none(report.prior);
  result["value"] = number_or_none(report.value);
  result["visits"] = report.visits;
  return result;
}

nb::list actions_to_python(const std::vector<TreeAction>& actions) {
  nb::list result;
  for (const TreeAction& action : actions) {
    nb::list outcomes;
    for (const TreeOutcome& outcome : action.outcomes) {
      nb::dict entry;
      entry["probability"] = outcome.probability;
      entry["value"] = number_or_none(outcome.value);
      entry["visits"] = outcome.visits;
      entry["is_goal"] = outcome.is_goal;
      entry["is_dead_end"] = outcome.is_dead_end;
      entry["added"] = to_list(outcome.added);
      entry["deleted"] = to_list(outcome.deleted);
      entry["actions"] = actions_to_python(outcome.actions);
      entry["num_actions"] = outcome.num_actions;
      outcomes.append(entry);
    }
    nb::dict entry = report_to_python(action.report);
    entry["outcomes"] = outcomes;
    entry["num_outcomes"] = action.num_outcomes;
    result.append(entry);
  }
  return result;
}

struct PyGuardedPolicy : PyPolicy {
  PyGuardedPolicy(const PyTask& of, const PyPolicy* base, const PyStepSearch* search, const PyStepSearch* loop_search,
                  const std::string& on_loop, std::optional<std::size_t> shield_expansions, bool sampled)
      : PyPolicy{of, {}, search != nullptr || find_on_loop(on_loop) != OnLoop::kNone}, total(std::make_shared<GuardTotal>()) {
    const auto check = [&](const PyTask& other) {
      if (&other != &of) throw std::invalid_argument("the parts of the policy belong to different tasks");
    };
    if (base != nullptr) check(base->task);
    if (search != nullptr) check(search->task);
    if (loop_search != nullptr) check(loop_search->task);
    if (base != nullptr && base->has_memory) throw std::invalid_argument("the policy that is guarded has a memory of its own");
    make = [&of, base = base == nullptr ? PolicyFactory{} : base->make, search = factory(search),
            loop_search = factory(loop_search), rule = find_on_loop(on_loop), shield_expansions, sampled, total = total] {
      GuardParts parts;
      if (base) parts.base = base();
      if (search) parts.search = search();
      if (loop_search) parts.loop_search = loop_search();
      if (shield_expansions) {
        parts.shield = std::make_unique<Shield>(of.task, of.generator, *shield_expansions);
      }
      parts.on_loop = rule;
      parts.sampled = sampled;
      return std::make_unique<GuardedPolicy>(of.task, of.generator, std::move(parts), total);
    };
    without_gil([&] { make(); });  // Says now what is wrong.
  }

  static std::function<std::unique_ptr<StepSearch>()> factory(const PyStepSearch* search) {
    return search == nullptr ? std::function<std::unique_ptr<StepSearch>()>{} : search->make;
  }

  nb::dict statistics() const {
    const GuardStatistics counted = without_gil([&] { return total->statistics(); });
    nb::dict result;
    result["episodes"] = counted.episodes;
    result["steps"] = counted.steps;
    result["rollouts"] = counted.rollouts;
    result["simulations"] = counted.simulations;
    result["excluded_actions"] = counted.excluded_actions;
    result["excluded_steps"] = counted.excluded_steps;
    result["loops"] = counted.loops;
    result["loops_left"] = counted.loops_left;
    result["loop_episodes"] = counted.loop_episodes;
    for (std::size_t d = 0; d < kNumDeciders; ++d) {
      for (std::size_t r = 0; r < kNumReasons; ++r) {
        if (counted.decided[d][r] == 0) continue;
        result[(std::string(kDeciderNames[d]) + ":" + kReasonNames[r]).c_str()] = counted.decided[d][r];
      }
    }
    return result;
  }

  std::shared_ptr<GuardTotal> total;
};

}  // namespace

nb::dict decision_to_python(const Decision& decision) {
  nb::dict result;
  result["action"] = action_or_none(decision.action);
  result["policy_action"] = action_or_none(decision.policy_action);
  result["search_action"] = action_or_none(decision.search_action);
  result["decider"] = kDeciderNames[static_cast<std::size_t>(decision.decider)];
  result["reason"] = kReasonNames[static_cast<std::size_t>(decision.reason)];
  result["rollouts"] = decision.rollouts;
  result["simulations"] = decision.simulations;
  result["value"] = number_or_none(decision.value);
  nb::list actions;
  for (const ActionReport& report : decision.actions) {
    nb::dict entry = report_to_python(report);
    entry["is_excluded"] = report.is_excluded;
    actions.append(entry);
  }
  result["actions"] = actions;
  result["tree"] = actions_to_python(decision.tree.actions);
  result["tree_actions"] = decision.tree.num_actions;
  return result;
}

void bind_guarded_policy(nb::module_& module) {
  nb::class_<PyStepSearch>(module, "StepSearch", "What looks ahead before each step of a run.");
  nb::class_<PyGuardedPolicy, PyPolicy>(module, "GuardedPolicy",
                                        "A policy, a search, a shield and a way out of loops as one policy.\n\n"
                                        "All methods may be called at any time from any thread.")
      .def(nb::init<const PyTask&, const PyPolicy*, const PyStepSearch*, const PyStepSearch*, const std::string&,
                    std::optional<std::size_t>, bool>(),
           nb::arg("task"), nb::arg("base").none(), nb::arg("search").none(), nb::arg("loop_search").none(),
           nb::arg("on_loop"), nb::arg("shield_expansions").none(), nb::arg("sampled"), nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
           "`search` decides at every step with a choice, `loop_search` at loops, where `on_loop` is \"search\". The shield "
           "expands so many states a step; None: there is none. `sampled`: whether the policy draws its actions.")
      .def("statistics", &PyGuardedPolicy::statistics, nb::sig("def statistics(self) -> dict[str, int]"),
           "Counts of all episodes that have ended; steps by \"decider:reason\" where there are any.");
}

}  // namespace asnets
