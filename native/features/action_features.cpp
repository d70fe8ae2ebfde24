#include "features/action_features.hpp"

#include <algorithm>

namespace asnets {

ActionFeatures::ActionFeatures(const std::vector<std::string>& names, const Task& task)
    : defaults_(default_values(names)), positions_(task.num_actions(), -1) {
  std::size_t first = 0;
  for (const std::string& name : names) {
    const ActionFeatureEntry& entry = find_action_feature(name);
    parts_.push_back({entry.make(task), first, entry.default_values.size()});
    first += entry.default_values.size();
  }
}

void ActionFeatures::evaluate(const Word* state, const ActionFeature::Set& set) {
  if (parts_.size() == 1) return parts_[0].feature->evaluate(state, set);
  // What an evaluation that was interrupted has left.
  for (const ActionId action : named_) positions_[static_cast<std::size_t>(action)] = -1;
  named_.clear();
  values_.clear();
  for (const Part& part : parts_) {
    part.feature->evaluate(state, [&](ActionId action, const float* values) {
      std::int32_t& position = positions_[static_cast<std::size_t>(action)];
      if (position < 0) {
        position = static_cast<std::int32_t>(named_.size());
        named_.push_back(action);
        values_.insert(values_.end(), defaults_.begin(), defaults_.end());
      }
      std::copy_n(values, part.width,
                  values_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(position) * width() + part.first));
    });
  }
  for (std::size_t i = 0; i < named_.size(); ++i) set(named_[i], values_.data() + i * width());
}

}  // namespace asnets
