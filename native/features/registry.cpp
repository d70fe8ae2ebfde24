#include "features/registry.hpp"

#include "features/landmarks.hpp"
#include "features/look_ahead.hpp"
#include "features/relaxed_plan.hpp"
#include "lookup.hpp"

namespace asnets {

namespace {

template <typename Feature>
std::unique_ptr<ActionFeature> make(const Task& task) {
  return std::make_unique<Feature>(task);
}

}  // namespace

const std::vector<ActionFeatureEntry>& action_features() {
  // Name, default values, binary, description, how to make it.
  static const std::vector<ActionFeatureEntry> registry{
      {"landmarks", {0, 0, 1}, true, "only action of some LM-cut landmark; one of several of some; in none",
       make<LandmarkFeature>},
      {"relaxed-plan", {0}, true, "part of the relaxed plan of hff", make<RelaxedPlanFeature>},
      {"landmark-share", {0}, false, "share of LM-cut's value that comes from landmarks with the action",
       make<LandmarkShareFeature>},
      {"distance", {0, 0, 0}, false,
       "what the action adds to hadd's estimate of the cost to the goal: at best, on average, and against the best action",
       make<DistanceFeature>},
      {"risk", {0, 0, 0}, false,
       "what the action adds to how improbable the goal is, also against the best action; how probably it is sealed off",
       make<RiskFeature>},
  };
  return registry;
}

const ActionFeatureEntry& find_action_feature(const std::string& name) {
  return find_entry(action_features(), name, "action feature");
}

std::vector<float> default_values(const std::vector<std::string>& names) {
  std::vector<float> result;
  for (const std::string& name : names) {
    const std::vector<float>& values = find_action_feature(name).default_values;
    result.insert(result.end(), values.begin(), values.end());
  }
  return result;
}

}  // namespace asnets
