// Transitions of a task: sampling one successor and enumerating all of them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "random.hpp"
#include "successor_generator.hpp"
#include "task.hpp"

namespace asnets {

struct TooManySuccessors : std::runtime_error {
  explicit TooManySuccessors(ActionId action_id) : std::runtime_error("too many successors"), action(action_id) {}
  ActionId action;
};

// Samples successors. Walks the factors of an effect, so that its cost is that of one outcome. Holds scratch space:
// one for each thread.
class Sampler {
 public:
  explicit Sampler(const Task& task) : task_(task) {}

  // Replaces `state` by a successor under an applicable action.
  void step(Word* state, ActionId action, RandomStream& random);

 private:
  const Task& task_;
  std::vector<std::int32_t> changes_;  // Literals.
  std::vector<std::int32_t> stack_;
};

// Enumerates successors with their probabilities, equal ones merged. Partial outcomes that agree are merged after each
// factor, so that many factors with few distinct results stay cheap. Holds scratch space: one for each thread.
class Expander {
 public:
  Expander(const Task& task, std::size_t max_successors) : task_(task), max_successors_(max_successors) {}

  // Fills in the successors of an applicable action: `count()` states of `num_words` words each, in the order in which
  // they first come up. Throws TooManySuccessors.
  void expand(const Word* state, ActionId action);

  std::size_t count() const { return probabilities_.size(); }
  const Word* successor(std::size_t index) const { return successors_.data() + index * task_.num_words(); }
  double probability(std::size_t index) const { return probabilities_[index]; }
  // How many roundings stand behind each probability, at most: of the numbers of the domain, their products and sums.
  std::uint32_t roundings() const { return roundings_; }

 private:
  // Sets of adds and deletes (2 * num_words words each), one after the other, with their probabilities.
  struct Outcomes {
    std::vector<double> probabilities;
    std::vector<Word> words;
  };

  void apply_block(std::int32_t block, Outcomes& outcomes);
  void merge(std::vector<double>& probabilities, std::vector<Word>& words, std::size_t stride);

  const Task& task_;
  std::size_t max_successors_;
  const Word* state_ = nullptr;
  ActionId action_ = 0;
  std::vector<double> probabilities_;
  std::vector<Word> successors_;
  std::vector<std::uint32_t> slots_;
  std::uint32_t roundings_ = 0;
};

}  // namespace asnets
