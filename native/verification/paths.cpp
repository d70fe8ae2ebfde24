#include "verification/paths.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

#include "assert.hpp"
#include "interruption.hpp"

namespace asnets {

namespace {

// What is compared first, what decides between equal ones, and the state.
using Entry = std::tuple<double, double, StateId>;

constexpr StateId kNone = std::numeric_limits<StateId>::max();

}  // namespace

std::vector<StateId> find_path(const ModelView& model, StateId start,
                               std::span<const std::uint8_t> is_target, bool is_shortest) {
  ASNETS_ASSERT(start < model.num_states() && is_target.size() == model.num_states());
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<double> first(model.num_states(), kFar);
  std::vector<double> second(model.num_states(), kFar);
  std::vector<StateId> before(model.num_states(), kNone);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  first[start] = second[start] = 0;
  queue.emplace(0.0, 0.0, start);
  while (!queue.empty()) {
    const auto [main, other, state] = queue.top();
    queue.pop();
    interruption_tick();
    if (main > first[state] || other > second[state]) continue;
    if (is_target[state] != 0) {
      std::vector<StateId> path{state};
      while (path.back() != start) path.push_back(before[path.back()]);
      std::reverse(path.begin(), path.end());
      return path;
    }
    for (std::uint64_t i = model.first(state); i < model.last(state); ++i) {
      const StateId after = model.successors[i];
      if (after == state) continue;
      const double surprise = -std::log(model.probabilities[i]);
      const double new_main = main + (is_shortest ? 1.0 : surprise);
      const double new_other = other + (is_shortest ? surprise : 1.0);
      if (new_main < first[after] || (new_main == first[after] && new_other < second[after])) {
        first[after] = new_main;
        second[after] = new_other;
        before[after] = state;
        queue.emplace(new_main, new_other, after);
      }
    }
  }
  return {};
}

}  // namespace asnets
