// The strongly connected components of a chain, those that are reached later first.
//
// By the algorithm of Tarjan [tarjan1972depth] in the form of Pearce [pearce2016space], without recursion and with one
// number for each state. Where all transitions of a chain lead to states of greater numbers or back to the state
// itself, as in breadth-first order they often do, every state is a component and the order is that of falling numbers:
// nothing is stored then, and whoever goes through the components reads memory in order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "state_table.hpp"
#include "verification/model_view.hpp"

namespace asnets {

class ChainComponents {
 public:
  // Of a chain. Has interruption points.
  explicit ChainComponents(const ModelView& model);

  // Calls `visit(states)` for each component, those that are reached later first.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    if (order_.empty()) {
      for (std::size_t i = num_states_; i-- > 0;) {
        const StateId state = static_cast<StateId>(i);
        visit(std::span<const StateId>(&state, 1));
      }
      return;
    }
    std::size_t begin = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (!is_last_[i]) continue;
      visit(std::span<const StateId>(order_).subspan(begin, i + 1 - begin));
      begin = i + 1;
    }
  }

  std::size_t size() const { return size_; }
  std::size_t largest() const { return largest_; }
  // Whether two states are in one component.
  bool are_together(StateId a, StateId b) const { return order_.empty() ? a == b : number_[a] == number_[b]; }

 private:
  void find(const ModelView& model);

  std::size_t num_states_;
  std::size_t size_ = 0;
  std::size_t largest_ = 1;
  std::vector<StateId> order_;  // Empty if every state is a component of its own.
  std::vector<bool> is_last_;   // Of each position in `order_`, whether a component ends there.
  std::vector<std::uint32_t> number_;
};

}  // namespace asnets
