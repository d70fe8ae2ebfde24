// Applicable actions by trees over precondition literals, without a scan over all actions.
//
// Actions that share a literal which is often true (an empty hand, a sound tyre) make a tree of their own, which is
// skipped as a whole where the literal is false. Within a tree, each action is filed under the literal of its
// precondition that is least often true, then within that group under the least often true of what is left, and so on;
// literals that a whole group shares are tested once, as gates. Positive literals that lie in one word of the state are
// looked up from the bits that are true there, so that the cost follows what is true and nearly applicable.
// How often a literal is true is guessed from its predicate: the share of the predicate's propositions that are true
// initially (a vehicle is in one of many places, but many places have a spare).
// Like the successor generators of Fast Downward [helmert2006fast, section 5.3.1], but over sparse sets of literals.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "task.hpp"

namespace asnets {

// A list of actions whose memory is kept from state to state.
class ActionList {
 public:
  std::span<const ActionId> actions() const { return {storage_.data(), count_}; }
  bool empty() const { return count_ == 0; }
  void clear() { count_ = 0; }
  // Makes room for so many actions; without it, `put` must not be called.
  void reserve(std::size_t capacity) {
    if (storage_.size() < capacity) storage_.resize(capacity);
  }
  // Appends the action if it is wanted, without a branch.
  void put(ActionId action, bool wanted) {
    storage_[count_] = action;
    count_ += wanted;
  }

 private:
  std::vector<ActionId> storage_;
  std::size_t count_ = 0;
};

class SuccessorGenerator {
 public:
  explicit SuccessorGenerator(const Task& task);

  // Fills `actions` with the applicable actions, in an order that depends on the state alone.
  // `stack` is scratch space, so that one generator serves several threads.
  void applicable(const Word* state, ActionList& actions, std::vector<std::int32_t>& stack) const;

 private:
  struct Range {
    std::int32_t begin = 0;
    std::int32_t end = 0;
  };
  struct Test {
    std::uint32_t word = 0;
    std::uint32_t shift = 0;

    Word bit(const Word* state) const { return state[word] >> shift; }
  };
  // An action with what remains to be tested. Most have few literals left; testing these all at once costs less than
  // the mispredicted branches of testing them one by one. Tests in excess repeat one that is there.
  enum class Rest : std::uint8_t { kNothing, kTests, kPrecondition };
  struct Entry {
    ActionId action = 0;
    Rest rest = Rest::kNothing;
    std::array<std::uint8_t, 3> wanted{};  // The value that each test wants.
    std::array<Test, 3> tests;
  };
  // What is filed under a positive literal: an entry if >= 0, else ~node.
  using Key = std::int32_t;
  struct KeyWord {
    Word mask = 0;
    std::uint32_t word = 0;
    std::uint32_t first_key = 0;  // Into keys_, 64 for each word.
  };
  struct Child {
    Literal literal;
    std::int32_t node;
  };
  struct Node {
    Range gates;      // Into literals_.
    Range entries;    // Into entries_.
    Range key_words;  // Into key_words_.
    Range children;   // Into children_.
  };
  struct Group;

  void build(Group top, const std::vector<double>& truth);
  void file(const Group& group, Node& node, std::vector<Group>& open, const std::vector<Literal>& keys);
  Entry make_entry(ActionId action, const std::vector<Literal>& literals) const;
  bool passes(const Entry& entry, const Word* state) const;

  const Task& task_;
  std::vector<ActionId> unconditional_;
  std::vector<std::int32_t> roots_;
  std::vector<Node> nodes_;
  std::vector<Child> children_;
  std::vector<Entry> entries_;
  std::vector<KeyWord> key_words_;
  std::vector<Key> keys_;
  std::vector<Literal> literals_;
};

}  // namespace asnets
