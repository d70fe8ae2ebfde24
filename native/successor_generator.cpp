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

namespace {

// For each literal, a guess at how often it is true.
std::vector<double> truth_frequencies(const Task& task) {
  const auto predicates = task.arrays().proposition_predicate;
  std::size_t num_predicates = 0;
  for (const std::int32_t predicate : predicates) {
    num_predicates = std::max(num_predicates, static_cast<std::size_t>(predicate) + 1);
  }
  std::vector<double> count(num_predicates, 1);
  std::vector<double> initially_true(num_predicates, 0.5);
  for (std::size_t p = 0; p < predicates.size(); ++p) {
    const auto predicate = static_cast<std::size_t>(predicates[p]);
    count[predicate] += 1;
    if (test_bit(task.initial_state().data(), p)) initially_true[predicate] += 1;
  }
  std::vector<double> truth;
  for (const std::int32_t p : predicates) {
    const auto predicate = static_cast<std::size_t>(p);
    const double frequency = initially_true[predicate] / count[predicate];
    truth.insert(truth.end(), {frequency, 1 - frequency});
  }
  return truth;
}

}  // namespace

SuccessorGenerator::SuccessorGenerator(const Task& task) : task_(task) {
  Group root{0, {}};
  root.actions.reserve(task.num_actions());
  for (std::size_t a = 0; a < task.num_actions(); ++a) {
    const auto precondition = task.arrays().action_precondition[a];
    const auto literals = task.arrays().condition_literals[precondition];
    if (literals.empty() && task.arrays().condition_clauses[precondition].empty()) {
      unconditional_.push_back(static_cast<ActionId>(a));
    } else {
      root.actions.emplace_back(static_cast<ActionId>(a), std::vector<Literal>(literals.begin(), literals.end()));
    }
  }
  build(std::move(root), truth_frequencies(task));

  // Children of the root under a positive literal are found from the state's true bits instead.
  key_mask_.assign(task.num_words(), 0);
  keys_.assign(task.num_propositions(), {});
  Node& top = nodes_[0];
  const auto begin = children_.begin() + top.children.begin;
  const auto end = children_.begin() + top.children.end;
  const auto negative = std::stable_partition(begin, end, [](const Child& child) { return child.literal % 2 == 0; });
  for (auto child = begin; child != negative; ++child) {
    const auto proposition = static_cast<std::size_t>(child->literal) >> 1;
    set_bit(key_mask_.data(), proposition);
    const Node& node = nodes_[static_cast<std::size_t>(child->node)];
    const bool lone = node.entries.end - node.entries.begin == 1 && node.children.begin == node.children.end &&
                      node.gates.begin == node.gates.end;
    keys_[proposition] = lone ? Key{node.entries.begin, -1} : Key{-1, child->node};
  }
  top.children.begin += static_cast<std::int32_t>(negative - begin);
}

SuccessorGenerator::Entry SuccessorGenerator::make_entry(ActionId action, const std::vector<Literal>& literals) const {
  const auto precondition = task_.arrays().action_precondition[static_cast<std::size_t>(action)];
  const auto all = task_.arrays().condition_literals[precondition];
  Entry entry;
  entry.action = action;
  entry.more = literals.size() > entry.tests.size() || !task_.arrays().condition_clauses[precondition].empty();
  for (std::size_t i = 0; i < entry.tests.size() && !all.empty(); ++i) {
    const Literal literal = i < literals.size() ? literals[i] : all[0];
    const auto bit = static_cast<std::uint32_t>(literal) >> 1;
    entry.tests[i] = {bit >> 6, bit & 63};
    entry.wanted[i] = literal % 2 == 0;
  }
  return entry;
}

inline bool SuccessorGenerator::passes(const Entry& entry, const Word* state) const {
  const Word wrong = (entry.tests[0].bit(state) ^ entry.wanted[0]) | (entry.tests[1].bit(state) ^ entry.wanted[1]) |
                     (entry.tests[2].bit(state) ^ entry.wanted[2]);
  if (entry.more) return task_.is_applicable(entry.action, state);
  return (wrong & 1) == 0;
}

void SuccessorGenerator::build(Group root, const std::vector<double>& truth) {
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

    std::vector<std::pair<Literal, std::size_t>> keyed;  // (literal to file it under, position in the group)
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < group.actions.size(); ++i) {
      auto& [action, literals] = group.actions[i];
      std::erase_if(literals, [&](Literal l) { return std::find(gates.begin(), gates.end(), l) != gates.end(); });
      const bool leaf = literals.empty() || (group.node != 0 && group.actions.size() == 1);
      if (leaf) {
        entries.push_back(make_entry(action, literals));
        continue;
      }
      // At the root a positive literal is much better than a negative one: it is found from the state.
      const auto rank = [&](Literal l) {
        return std::make_tuple(group.node == 0 && l % 2 == 1, truth[static_cast<std::size_t>(l)],
                               count[static_cast<std::size_t>(l)], l);
      };
      keyed.emplace_back(*std::min_element(literals.begin(), literals.end(),
                                           [&](Literal a, Literal b) { return rank(a) < rank(b); }),
                         i);
    }
    for (const Literal gate : gates) count[static_cast<std::size_t>(gate)] = 0;
    for (const auto& [action, literals] : group.actions) {
      for (const Literal literal : literals) count[static_cast<std::size_t>(literal)] = 0;
    }
    std::stable_sort(keyed.begin(), keyed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::size_t first_child = children_.size();
    for (std::size_t i = 0; i < keyed.size();) {
      const Literal literal = keyed[i].first;
      // A lone action needs no node, except at the root, where its literal is found from the state.
      if (group.node != 0 && (i + 1 == keyed.size() || keyed[i + 1].first != literal)) {
        auto& [action, literals] = group.actions[keyed[i].second];
        std::iter_swap(literals.begin(), std::find(literals.begin(), literals.end(), literal));
        entries.push_back(make_entry(action, literals));
        ++i;
        continue;
      }
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
    node.children = {static_cast<std::int32_t>(first_child), static_cast<std::int32_t>(children_.size())};
    node.entries.begin = static_cast<std::int32_t>(entries_.size());
    entries_.insert(entries_.end(), entries.begin(), entries.end());
    node.entries.end = static_cast<std::int32_t>(entries_.size());
    nodes_[static_cast<std::size_t>(group.node)] = node;
  }
}

void SuccessorGenerator::applicable(const Word* state, ActionList& actions, std::vector<std::int32_t>& stack) const {
  actions.clear();
  actions.reserve(task_.num_actions() + 1);
  stack.clear();
  for (const ActionId action : unconditional_) actions.put(action, true);
  stack.push_back(0);
  for (std::size_t w = 0; w < key_mask_.size(); ++w) {
    for (Word bits = state[w] & key_mask_[w]; bits != 0; bits &= bits - 1) {
      const Key key = keys_[w * 64 + static_cast<std::size_t>(std::countr_zero(bits))];
      if (key.entry >= 0) {
        const Entry& entry = entries_[static_cast<std::size_t>(key.entry)];
        actions.put(entry.action, passes(entry, state));
      } else {
        stack.push_back(key.node);
      }
    }
  }
  while (!stack.empty()) {
    const Node& node = nodes_[static_cast<std::size_t>(stack.back())];
    stack.pop_back();
    bool open = true;
    for (std::int32_t i = node.gates.begin; i < node.gates.end && open; ++i) {
      open = holds(state, literals_[static_cast<std::size_t>(i)]);
    }
    if (!open) continue;
    for (std::int32_t i = node.entries.begin; i < node.entries.end; ++i) {
      const Entry& entry = entries_[static_cast<std::size_t>(i)];
      actions.put(entry.action, passes(entry, state));
    }
    for (std::int32_t i = node.children.begin; i < node.children.end; ++i) {
      const Child& child = children_[static_cast<std::size_t>(i)];
      if (holds(state, child.literal)) stack.push_back(child.node);
    }
  }
}

}  // namespace asnets
