#include "successor_generator.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <tuple>
#include <utility>

namespace asnets {

// Actions below a node, with the literals that have not been tested on the way to it.
struct SuccessorGenerator::Group {
  std::int32_t node;
  bool is_root;
  std::vector<std::pair<ActionId, std::vector<Literal>>> actions;
};

namespace {

// A tree of its own has at least 1 / this of the actions, and its gate is at least so often true.
constexpr std::size_t kMinTreeShare = 5;
constexpr double kMinGateTruth = 0.3;
// Below the root, words with fewer keys are not worth the table of 64 entries that each word needs.
constexpr std::size_t kMinKeysInWord = 4;

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

template <typename T>
std::int32_t size_of(const std::vector<T>& items) {
  return static_cast<std::int32_t>(items.size());
}

}  // namespace

SuccessorGenerator::SuccessorGenerator(const Task& task) : task_(task) {
  const std::vector<double> truth = truth_frequencies(task);
  std::vector<std::pair<ActionId, std::vector<Literal>>> actions;
  std::vector<std::size_t> count(2 * task.num_propositions(), 0);
  for (std::size_t a = 0; a < task.num_actions(); ++a) {
    const auto precondition = task.arrays().action_precondition[a];
    const auto literals = task.arrays().condition_literals[precondition];
    if (literals.empty() && task.arrays().condition_clauses[precondition].empty()) {
      unconditional_.push_back(static_cast<ActionId>(a));
      continue;
    }
    actions.emplace_back(static_cast<ActionId>(a), std::vector<Literal>(literals.begin(), literals.end()));
    for (const Literal literal : literals) ++count[static_cast<std::size_t>(literal)];
  }
  std::vector<std::pair<std::size_t, Literal>> gates;
  for (std::size_t l = 0; l < count.size(); ++l) {
    if (count[l] * kMinTreeShare >= actions.size() && count[l] > 1 && truth[l] >= kMinGateTruth) {
      gates.emplace_back(count[l], static_cast<Literal>(l));
    }
  }
  std::stable_sort(gates.begin(), gates.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [unused, gate] : gates) {
    const auto has_gate = [literal = gate](const auto& action) {
      return std::find(action.second.begin(), action.second.end(), literal) != action.second.end();
    };
    const auto rest = std::stable_partition(actions.begin(), actions.end(), has_gate);
    std::vector<std::pair<ActionId, std::vector<Literal>>> tree;
    std::move(actions.begin(), rest, std::back_inserter(tree));
    actions.erase(actions.begin(), rest);
    if (!tree.empty()) build({size_of(nodes_), true, std::move(tree)}, truth);
  }
  if (!actions.empty()) build({size_of(nodes_), true, std::move(actions)}, truth);
}

void SuccessorGenerator::build(Group top, const std::vector<double>& truth) {
  roots_.push_back(top.node);
  nodes_.emplace_back();
  std::vector<Group> open;
  open.push_back(std::move(top));
  std::vector<std::int32_t> count(2 * task_.num_propositions(), 0);
  while (!open.empty()) {
    Group group = std::move(open.back());
    open.pop_back();
    for (const auto& [action, literals] : group.actions) {
      for (const Literal literal : literals) ++count[static_cast<std::size_t>(literal)];
    }
    std::vector<Literal> gates;
    if (group.actions.size() > 1) {
      for (const Literal literal : group.actions[0].second) {
        if (count[static_cast<std::size_t>(literal)] == size_of(group.actions)) gates.push_back(literal);
      }
    }
    std::vector<Literal> keys;  // The literal that each action is filed under; -1 if none is left.
    for (auto& [action, literals] : group.actions) {
      std::erase_if(literals, [&](Literal l) { return std::find(gates.begin(), gates.end(), l) != gates.end(); });
      const auto rank = [&](Literal l) {
        return std::make_tuple(truth[static_cast<std::size_t>(l)], count[static_cast<std::size_t>(l)], l);
      };
      const auto key = std::min_element(literals.begin(), literals.end(),
                                        [&](Literal a, Literal b) { return rank(a) < rank(b); });
      keys.push_back(key == literals.end() ? -1 : *key);
    }
    for (const Literal gate : gates) count[static_cast<std::size_t>(gate)] = 0;
    for (const auto& [action, literals] : group.actions) {
      for (const Literal literal : literals) count[static_cast<std::size_t>(literal)] = 0;
    }
    Node node;
    node.gates.begin = size_of(literals_);
    literals_.insert(literals_.end(), gates.begin(), gates.end());
    node.gates.end = size_of(literals_);
    file(group, node, open, keys);
    nodes_[static_cast<std::size_t>(group.node)] = node;
  }
}

// Files the actions of a group: as entries, under keys looked up from the state, or under children.
void SuccessorGenerator::file(const Group& group, Node& node, std::vector<Group>& open,
                              const std::vector<Literal>& keys) {
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  // Keys of one word follow each other, so that looking ahead tells whether the word is worth a table.
  const auto enough_keys_in_word = [&](std::size_t i) {
    const Literal word = keys[order[i]] >> 7;
    std::size_t found = 0;
    for (Literal last = -1; i < order.size() && keys[order[i]] >> 7 == word && found < kMinKeysInWord; ++i) {
      found += keys[order[i]] % 2 == 0 && keys[order[i]] != last;
      last = keys[order[i]];
    }
    return found >= kMinKeysInWord;
  };
  Literal current_word = -1;
  bool word_has_table = false;
  std::vector<Entry> entries;  // Those of this node, which must lie together.
  node.key_words.begin = size_of(key_words_);
  node.children.begin = size_of(children_);
  for (std::size_t i = 0; i < order.size();) {
    const Literal key = keys[order[i]];
    std::size_t end = i;
    while (end < order.size() && keys[order[end]] == key) ++end;
    if (key < 0) {
      for (; i < end; ++i) entries.push_back(make_entry(group.actions[order[i]].first, {}));
      continue;
    }
    if (key >> 7 != current_word) {
      current_word = key >> 7;
      word_has_table = group.is_root || enough_keys_in_word(i);
    }
    const bool looked_up = key % 2 == 0 && word_has_table;
    Key target = 0;
    if (end - i == 1) {
      const auto& [action, literals] = group.actions[order[i]];
      std::vector<Literal> left(literals);
      if (looked_up) {
        std::erase(left, key);
        target = size_of(entries_);
        entries_.push_back(make_entry(action, left));
      } else {
        entries.push_back(make_entry(action, left));
      }
    } else {
      Group below{size_of(nodes_), false, {}};
      nodes_.emplace_back();
      for (std::size_t j = i; j < end; ++j) {
        const auto& [action, literals] = group.actions[order[j]];
        below.actions.emplace_back(action, literals);
        std::erase(below.actions.back().second, key);
      }
      target = ~below.node;
      if (!looked_up) children_.push_back({key, below.node});
      open.push_back(std::move(below));
    }
    if (looked_up) {
      if (size_of(key_words_) == node.key_words.begin || key_words_.back().word != static_cast<std::uint32_t>(current_word)) {
        key_words_.push_back({0, static_cast<std::uint32_t>(current_word), static_cast<std::uint32_t>(keys_.size())});
        keys_.resize(keys_.size() + 64, 0);
      }
      const std::size_t bit = (static_cast<std::size_t>(key) >> 1) & 63;
      set_bit(&key_words_.back().mask, bit);
      keys_[key_words_.back().first_key + bit] = target;
    }
    i = end;
  }
  node.key_words.end = size_of(key_words_);
  node.children.end = size_of(children_);
  node.entries.begin = size_of(entries_);
  entries_.insert(entries_.end(), entries.begin(), entries.end());
  node.entries.end = size_of(entries_);
}

SuccessorGenerator::Entry SuccessorGenerator::make_entry(ActionId action, const std::vector<Literal>& literals) const {
  const auto precondition = task_.arrays().action_precondition[static_cast<std::size_t>(action)];
  Entry entry;
  entry.action = action;
  if (literals.size() > entry.tests.size() || !task_.arrays().condition_clauses[precondition].empty()) {
    entry.rest = Rest::kPrecondition;
  } else if (!literals.empty()) {
    entry.rest = Rest::kTests;
    for (std::size_t i = 0; i < entry.tests.size(); ++i) {
      const Literal literal = literals[std::min(i, literals.size() - 1)];
      const auto bit = static_cast<std::uint32_t>(literal) >> 1;
      entry.tests[i] = {bit >> 6, bit & 63};
      entry.wanted[i] = literal % 2 == 0;
    }
  }
  return entry;
}

inline bool SuccessorGenerator::passes(const Entry& entry, const Word* state) const {
  if (entry.rest == Rest::kNothing) return true;
  if (entry.rest == Rest::kPrecondition) return task_.is_applicable(entry.action, state);
  const Word wrong = (entry.tests[0].bit(state) ^ entry.wanted[0]) | (entry.tests[1].bit(state) ^ entry.wanted[1]) |
                     (entry.tests[2].bit(state) ^ entry.wanted[2]);
  return (wrong & 1) == 0;
}

void SuccessorGenerator::applicable(const Word* state, ActionList& actions, std::vector<std::int32_t>& stack) const {
  actions.clear();
  actions.reserve(task_.num_actions() + 1);
  for (const ActionId action : unconditional_) actions.put(action, true);
  stack.assign(roots_.begin(), roots_.end());
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
    for (std::int32_t i = node.key_words.begin; i < node.key_words.end; ++i) {
      const KeyWord& key_word = key_words_[static_cast<std::size_t>(i)];
      const Key* keys = keys_.data() + key_word.first_key;
      for (Word bits = state[key_word.word] & key_word.mask; bits != 0; bits &= bits - 1) {
        const Key key = keys[std::countr_zero(bits)];
        if (key >= 0) {
          const Entry& entry = entries_[static_cast<std::size_t>(key)];
          actions.put(entry.action, passes(entry, state));
        } else {
          stack.push_back(~key);
        }
      }
    }
    for (std::int32_t i = node.children.begin; i < node.children.end; ++i) {
      const Child& child = children_[static_cast<std::size_t>(i)];
      if (holds(state, child.literal)) stack.push_back(child.node);
    }
  }
}

}  // namespace asnets
