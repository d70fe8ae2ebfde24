// A model as it grows: numbers states and writes their transitions, in the order of exploration.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "state_table.hpp"
#include "task.hpp"
#include "verification/block.hpp"
#include "verification/explicit_model.hpp"

namespace asnets {

class ModelBuilder {
 public:
  ModelBuilder(const Task& task, ExplicitModel& model) : task_(task), model_(model) {
    model.first_transition.push_back(0);
    for (std::size_t a = 0; a < task.num_actions(); ++a) {
      model.largest_cost = std::max(model.largest_cost, task.cost_size(static_cast<ActionId>(a)));
    }
    for (const auto costs : {task.arrays().action_cost, task.arrays().block_cost}) {
      model.has_negative_cost |= std::any_of(costs.begin(), costs.end(), [](double cost) { return cost < 0; });
    }
    intern(task.initial_state().data(), hash_words(task.initial_state().data(), task.num_words()));
  }

  void add(const StateBlock& block, std::size_t position) {
    const StateId state = block.ids[position];
    const std::size_t begin = position == 0 ? 0 : block.choices_end[position - 1];
    const std::size_t end = block.choices_end[position];
    start_row(state);
    for (std::size_t c = begin; c < end; ++c) add_choice(block, c);
    model_.kinds[state] = static_cast<std::uint8_t>(begin == end ? StateKind::kStopped : StateKind::kInner);
  }

  // Of a state that was added, if states are not added in ascending order.
  std::pair<std::size_t, std::size_t> row(StateId state) const {
    const std::uint64_t r = row_of_[state];
    return {row_choices_[r], r + 1 < row_choices_.size() ? row_choices_[r + 1] : model_.num_choices()};
  }

  // Brings choices into the order of states.
  void finish() {
    if (!is_ascending_) permute();
    model_.first_choice.resize(model_.num_states() + 1, model_.num_choices());
    if (!model_.joint_costs.empty() || is_mixed_) fill_joint(model_.num_choices());
  }

  // What `finish` needs, in bytes.
  std::size_t memory_to_finish() const {
    return is_ascending_ ? 0 : model_.successors.capacity() * 12 + model_.num_choices() * 20 + model_.num_states() * 8;
  }
  // Else states are added in ascending order.
  void add_in_any_order() { is_ascending_ = false; }

 private:
  struct Entry {
    StateId state;
    double probability;
    double cost;
  };

  StateId intern(const Word* words, std::uint64_t hash) {
    const StateId id = model_.states.intern(words, hash);
    if (id == model_.kinds.size()) {
      const StateKind kind = task_.is_goal(words) ? StateKind::kGoal : StateKind::kUnexplored;
      model_.kinds.push_back(static_cast<std::uint8_t>(kind));
    }
    return id;
  }

  void start_row(StateId state) {
    if (is_ascending_) {
      model_.first_choice.resize(std::size_t{state} + 1, model_.num_choices());
      return;
    }
    if (row_of_.size() <= state) row_of_.resize(model_.num_states(), kNoRow);
    row_of_[state] = row_choices_.size();
    row_choices_.push_back(model_.num_choices());
  }

  void add_choice(const StateBlock& block, std::size_t c) {
    const StateBlock::Choice& choice = block.choices[c];
    const std::size_t first = c == 0 ? 0 : block.choices[c - 1].end;
    entries_.clear();
    for (std::size_t o = first; o < choice.end; ++o) {
      const StateBlock::Outcome& outcome = block.outcomes[o];
      if (!(outcome.probability > 0)) continue;
      entries_.push_back({intern(block.successors.data() + o * task_.num_words(), outcome.hash), outcome.probability,
                          outcome.cost});
    }
    const std::size_t outcomes = entries_.size();
    if (choice.is_mixed) {
      sort_and_merge([](const Entry& a, const Entry& b) {
        return a.state < b.state || (a.state == b.state && a.cost < b.cost);
      });
      fill_joint(model_.num_choices());
      is_mixed_ = true;
      for (const Entry& entry : entries_) add_joint(entry.state, entry.probability, entry.cost);
      model_.first_joint.push_back(model_.joint_costs.size());
    }
    sort_and_merge([](const Entry& a, const Entry& b) { return a.state < b.state; });
    for (const Entry& entry : entries_) {
      model_.successors.push_back(entry.state);
      model_.probabilities.push_back(entry.probability);
    }
    model_.choice_action.push_back(choice.action);
    model_.choice_cost.push_back(choice.cost);
    model_.first_transition.push_back(model_.successors.size());
    model_.roundings =
        std::max(model_.roundings, choice.roundings + static_cast<std::uint32_t>(outcomes - entries_.size()));
  }

  // Equal outcomes are added up in the order in which they came.
  template <typename Less>
  void sort_and_merge(Less less) {
    if (entries_.size() <= kFew) {
      // Insertion, which needs no memory.
      for (std::size_t i = 1; i < entries_.size(); ++i) {
        for (std::size_t j = i; j > 0 && less(entries_[j], entries_[j - 1]); --j) {
          std::swap(entries_[j], entries_[j - 1]);
        }
      }
    } else {
      std::stable_sort(entries_.begin(), entries_.end(), less);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (kept > 0 && !less(entries_[kept - 1], entries_[i])) {
        entries_[kept - 1].probability += entries_[i].probability;
      } else {
        entries_[kept++] = entries_[i];
      }
    }
    entries_.resize(kept);
  }

  void add_joint(StateId state, double probability, double cost) {
    model_.joint_successors.push_back(state);
    model_.joint_probabilities.push_back(probability);
    model_.joint_costs.push_back(cost);
  }

  // Joint outcomes of the choices before this one, whose costs are the same for all successors.
  void fill_joint(std::size_t end) {
    if (model_.first_joint.empty()) model_.first_joint.push_back(0);
    for (std::size_t c = model_.first_joint.size() - 1; c < end; ++c) {
      for (std::uint64_t t = model_.first_transition[c]; t < model_.first_transition[c + 1]; ++t) {
        add_joint(model_.successors[t], model_.probabilities[t], model_.choice_cost[c]);
      }
      model_.first_joint.push_back(model_.joint_costs.size());
    }
  }

  // Choices in the order of states.
  void permute() {
    row_of_.resize(model_.num_states(), kNoRow);
    std::vector<std::size_t> order;
    order.reserve(model_.num_choices());
    model_.first_choice.clear();
    for (StateId state = 0; state < model_.num_states(); ++state) {
      model_.first_choice.push_back(order.size());
      if (row_of_[state] == kNoRow) continue;
      const auto [begin, end] = row(state);
      for (std::size_t c = begin; c < end; ++c) order.push_back(c);
    }
    if (is_mixed_) {
      fill_joint(model_.num_choices());
      permute_lists(order, model_.first_joint, model_.joint_costs, model_.joint_successors, model_.joint_probabilities);
    }
    permute_lists(order, model_.first_transition, model_.successors, model_.probabilities);
    gather(order, model_.choice_action);
    gather(order, model_.choice_cost);
  }

  template <typename T>
  static void gather(const std::vector<std::size_t>& order, std::vector<T>& values) {
    std::vector<T> result;
    result.reserve(values.size());
    for (const std::size_t index : order) result.push_back(values[index]);
    values = std::move(result);
  }
  template <typename... Ts>
  static void permute_lists(const std::vector<std::size_t>& order, std::vector<std::uint64_t>& first,
                            std::vector<Ts>&... values) {
    const auto gather_list = [&](auto& all) {
      std::remove_reference_t<decltype(all)> result;
      result.reserve(all.size());
      for (const std::size_t c : order) {
        result.insert(result.end(), all.begin() + static_cast<std::ptrdiff_t>(first[c]),
                      all.begin() + static_cast<std::ptrdiff_t>(first[c + 1]));
      }
      all = std::move(result);
    };
    (gather_list(values), ...);
    std::vector<std::uint64_t> offsets{0};
    offsets.reserve(first.size());
    for (const std::size_t c : order) offsets.push_back(offsets.back() + first[c + 1] - first[c]);
    first = std::move(offsets);
  }

  static constexpr std::size_t kFew = 16;
  static constexpr std::uint64_t kNoRow = static_cast<std::uint64_t>(-1);

  const Task& task_;
  ExplicitModel& model_;
  bool is_ascending_ = true;
  bool is_mixed_ = false;
  std::vector<std::uint64_t> row_of_;
  std::vector<std::uint64_t> row_choices_;
  std::vector<Entry> entries_;
};

}  // namespace asnets
