// Applicable actions by a tree over precondition literals, without a scan over all actions.
//
// Each action is filed under the rarest of its literals, then within that group under the rarest of what is left, and
// so on; literals that a whole group shares are tested once, as gates. At the root, positive literals are found from
// the true propositions of the state, so that the cost follows what is true and nearly applicable. Like the successor
// generators of Fast Downward [helmert2006fast, section 5.3.1], but over sparse sets of literals rather than variables.
#pragma once

#include <cstdint>
#include <vector>

#include "task.hpp"

namespace asnets {

class SuccessorGenerator {
 public:
  explicit SuccessorGenerator(const Task& task);

  // Fills `actions` with the applicable actions, in an order that depends on the state alone.
  // `stack` is scratch space, so that one generator serves several threads.
  void applicable(const Word* state, std::vector<ActionId>& actions, std::vector<std::int32_t>& stack) const;

 private:
  struct Range {
    std::int32_t begin = 0;
    std::int32_t end = 0;
  };
  struct Node {
    Range gates;     // Into literals_.
    Range children;  // Into children_.
    Range entries;   // Into entries_.
  };
  struct Child {
    Literal literal;
    std::int32_t node;
  };
  struct Entry {
    ActionId action;
    bool has_clauses;
    Range literals;  // Still to be tested, into literals_.
  };
  struct Group;

  void build(Group root);
  Entry make_entry(ActionId action, const std::vector<Literal>& literals);

  const Task& task_;
  std::vector<Node> nodes_;
  std::vector<Child> children_;
  std::vector<Entry> entries_;
  std::vector<Literal> literals_;
  std::vector<Word> key_mask_;               // Propositions under which actions are filed at the root.
  std::vector<std::int32_t> node_of_key_;    // For each of them, its node.
};

}  // namespace asnets
