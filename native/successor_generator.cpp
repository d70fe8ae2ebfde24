#include "successor_generator.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace asnets {

// Actions below a node, with the literals that have not been tested on the way to it.
struct SuccessorGenerator::Group {
  std::int32_t node;
  std::vector<std::pair<ActionId, std::vector<Literal>>> actions;
};

SuccessorGenerator::SuccessorGenerator(const Task& task) : task_(task) {
  Group root{0, {}};
  root.actions.reserve(task.num_actions());
  for (std::size_t a = 0; a < task.num_actions(); ++a) {
    const auto literals = task.arrays().condition_literals[task.arrays().action_precondition[a]];
    root.actions.emplace_back(static_cast<ActionId>(a), std::vector<Literal>(literals.begin(), literals.end()));
  }
  build(std::move(root));

  // Children of the root under a positive literal are found from the state's true bits instead.
  key_mask_.assign(task.num_words(), 0);
  node_of_key_.assign(task.num_propositions(), -1);
  Node& top = nodes_[0];
  const auto begin = children_.begin() + top.children.begin;
  const auto end = children_.begin() + top.children.end;
  const auto negative = std::stable_partition(begin, end, [](const Child& child) { return child.literal % 2 == 0; });
  for (auto child = begin; child != negative; ++child) {
    const auto proposition = static_cast<std::size_t>(child->literal) >> 1;
    set_bit(key_mask_.data(), proposition);
    node_of_key_[proposition] = child->node;
  }
  top.children.begin += static_cast<std::int32_t>(negative - begin);
}

SuccessorGenerator::Entry SuccessorGenerator::make_entry(ActionId action, const std::vector<Literal>& literals) {
  const auto precondition = task_.arrays().action_precondition[static_cast<std::size_t>(action)];
  Entry entry{action, !task_.arrays().condition_clauses[precondition].empty(), {}};
  entry.literals.begin = static_cast<std::int32_t>(literals_.size());
  literals_.insert(literals_.end(), literals.begin(), literals.end());
  entry.literals.end = static_cast<std::int32_t>(literals_.size());
  return entry;
}

void SuccessorGenerator::build(Group root) {
  nodes_.emplace_back();
  std::vector<Group> open;
  open.push_back(std::move(root));
  std::vector<std::int32_t> count(2 * task_.num_propositions(), 0);
  while (!open.empty()) {
    Group group = std::move(open.back());
    open.pop_back();
    for (const auto& [action, literals] : group.actions) {
      for (const Literal literal : literals) ++count[static_cast<std::size_t>(literal)];
    }
    Node node;
    node.gates.begin = static_cast<std::int32_t>(literals_.size());
    // The root has no gates: it is entered for every state, and its keys are found from the state.
    if (group.node != 0 && group.actions.size() > 1) {
      for (const Literal literal : group.actions[0].second) {
        if (count[static_cast<std::size_t>(literal)] == static_cast<std::int32_t>(group.actions.size())) {
          literals_.push_back(literal);
        }
      }
    }
    node.gates.end = static_cast<std::int32_t>(literals_.size());
    const std::vector<Literal> gates(literals_.begin() + node.gates.begin, literals_.begin() + node.gates.end);

    std::vector<std::pair<Literal, std::size_t>> keyed;  // (rarest literal, position in the group)
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < group.actions.size(); ++i) {
      auto& [action, literals] = group.actions[i];
      std::erase_if(literals, [&](Literal l) { return std::find(gates.begin(), gates.end(), l) != gates.end(); });
      const bool leaf = literals.empty() || (group.node != 0 && group.actions.size() == 1);
      if (leaf) {
        entries.push_back(make_entry(action, literals));
        continue;
      }
      // At the root a positive literal is much better than a negative one, however rare that is.
      const auto rank = [&](Literal l) {
        return std::make_tuple(group.node == 0 && l % 2 == 1, count[static_cast<std::size_t>(l)], l);
      };
      keyed.emplace_back(*std::min_element(literals.begin(), literals.end(),
                                           [&](Literal a, Literal b) { return rank(a) < rank(b); }),
                         i);
    }
    for (const Literal gate : gates) count[static_cast<std::size_t>(gate)] = 0;
    for (const auto& [action, literals] : group.actions) {
      for (const Literal literal : literals) count[static_cast<std::size_t>(literal)] = 0;
    }
    node.entries.begin = static_cast<std::int32_t>(entries_.size());
    entries_.insert(entries_.end(), entries.begin(), entries.end());
    node.entries.end = static_cast<std::int32_t>(entries_.size());

    std::stable_sort(keyed.begin(), keyed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    node.children.begin = static_cast<std::int32_t>(children_.size());
    for (std::size_t i = 0; i < keyed.size();) {
      const Literal literal = keyed[i].first;
      Group below{static_cast<std::int32_t>(nodes_.size()), {}};
      nodes_.emplace_back();
      for (; i < keyed.size() && keyed[i].first == literal; ++i) {
        auto& [action, literals] = group.actions[keyed[i].second];
        std::erase(literals, literal);
        below.actions.emplace_back(action, std::move(literals));
      }
      children_.push_back({literal, below.node});
      open.push_back(std::move(below));
    }
    node.children.end = static_cast<std::int32_t>(children_.size());
    nodes_[static_cast<std::size_t>(group.node)] = node;
  }
}

void SuccessorGenerator::applicable(const Word* state, std::vector<ActionId>& actions,
                                    std::vector<std::int32_t>& stack) const {
  actions.clear();
  stack.clear();
  stack.push_back(0);
  for (std::size_t w = 0; w < key_mask_.size(); ++w) {
    for (Word bits = state[w] & key_mask_[w]; bits != 0; bits &= bits - 1) {
      stack.push_back(node_of_key_[w * 64 + static_cast<std::size_t>(std::countr_zero(bits))]);
    }
  }
  const auto all_hold = [&](Range range) {
    for (std::int32_t i = range.begin; i < range.end; ++i) {
      if (!holds(state, literals_[static_cast<std::size_t>(i)])) return false;
    }
    return true;
  };
  while (!stack.empty()) {
    const Node& node = nodes_[static_cast<std::size_t>(stack.back())];
    stack.pop_back();
    if (!all_hold(node.gates)) continue;
    for (std::int32_t i = node.entries.begin; i < node.entries.end; ++i) {
      const Entry& entry = entries_[static_cast<std::size_t>(i)];
      if (all_hold(entry.literals) && (!entry.has_clauses || task_.is_applicable(entry.action, state))) {
        actions.push_back(entry.action);
      }
    }
    for (std::int32_t i = node.children.begin; i < node.children.end; ++i) {
      const Child& child = children_[static_cast<std::size_t>(i)];
      if (holds(state, child.literal)) stack.push_back(child.node);
    }
  }
}

}  // namespace asnets
