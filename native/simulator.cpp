#include "simulator.hpp"

#include <algorithm>

#include "interruption.hpp"
#include "state_table.hpp"

namespace asnets {

// --- Sampler ---

void Sampler::step(Word* state, ActionId action, RandomStream& random) {
  const TaskArrays& arrays = task_.arrays();
  changes_.clear();
  stack_.clear();
  std::int32_t block = arrays.action_block[static_cast<std::size_t>(action)];
  for (;;) {
    if (task_.condition_holds(arrays.block_guard[static_cast<std::size_t>(block)], state)) {
      const auto literals = arrays.block_literals[block];
      changes_.insert(changes_.end(), literals.begin(), literals.end());
      const auto children = arrays.block_children[block];
      stack_.insert(stack_.end(), children.begin(), children.end());
      for (const std::int32_t factor : arrays.block_factors[block]) {
        double draw = random.uniform();
        auto outcome = static_cast<std::size_t>(arrays.factor_blocks.offsets[static_cast<std::size_t>(factor)]);
        const auto last =
            static_cast<std::size_t>(arrays.factor_blocks.offsets[static_cast<std::size_t>(factor) + 1]) - 1;
        for (; outcome < last && draw >= arrays.factor_probability[outcome]; ++outcome) {
          draw -= arrays.factor_probability[outcome];
        }
        stack_.push_back(arrays.factor_blocks.values[outcome]);
      }
    }
    if (stack_.empty()) break;
    block = stack_.back();
    stack_.pop_back();
  }
  // Deletes first: an atom that is both added and deleted is true.
  for (const Literal literal : changes_) {
    const auto bit = static_cast<std::size_t>(literal) >> 1;
    state[bit >> 6] &= ~(static_cast<Word>(literal & 1) << (bit & 63));
  }
  for (const Literal literal : changes_) {
    const auto bit = static_cast<std::size_t>(literal) >> 1;
    state[bit >> 6] |= static_cast<Word>(~literal & 1) << (bit & 63);
  }
}

// --- Expander ---

namespace {

// Partial outcomes never take more memory than this, however many successors are allowed.
constexpr std::size_t kMaxWords = std::size_t{1} << 27;

}  // namespace

void Expander::expand(const Word* state, ActionId action) {
  const std::size_t words = task_.num_words();
  state_ = state;
  action_ = action;
  roundings_ = 0;
  Outcomes outcomes{{1.0}, std::vector<Word>(2 * words, 0)};
  apply_block(task_.arrays().action_block[static_cast<std::size_t>(action)], outcomes);
  probabilities_ = std::move(outcomes.probabilities);
  successors_.resize(probabilities_.size() * words);
  for (std::size_t i = 0; i < probabilities_.size(); ++i) {
    const Word* adds = outcomes.words.data() + 2 * words * i;
    const Word* deletes = adds + words;
    for (std::size_t w = 0; w < words; ++w) successors_[i * words + w] = (state[w] & ~deletes[w]) | adds[w];
  }
  merge(probabilities_, successors_, words);
}

void Expander::apply_block(std::int32_t block, Outcomes& outcomes) {
  const TaskArrays& arrays = task_.arrays();
  const std::size_t words = task_.num_words();
  const std::size_t stride = 2 * words;
  if (!task_.condition_holds(arrays.block_guard[static_cast<std::size_t>(block)], state_)) return;
  for (const Literal literal : arrays.block_literals[block]) {
    const std::size_t offset = literal % 2 == 0 ? 0 : words;
    for (std::size_t i = 0; i < outcomes.probabilities.size(); ++i) {
      set_bit(outcomes.words.data() + i * stride + offset, static_cast<std::size_t>(literal) >> 1);
    }
  }
  for (const std::int32_t child : arrays.block_children[block]) apply_block(child, outcomes);
  for (const std::int32_t factor : arrays.block_factors[block]) {
    const auto begin = static_cast<std::size_t>(arrays.factor_blocks.offsets[static_cast<std::size_t>(factor)]);
    const auto end = static_cast<std::size_t>(arrays.factor_blocks.offsets[static_cast<std::size_t>(factor) + 1]);
    roundings_ += 2;
    Outcomes all;
    for (std::size_t o = begin; o < end; ++o) {
      interruption_point();
      Outcomes branch = outcomes;
      for (double& probability : branch.probabilities) probability *= arrays.factor_probability[o];
      apply_block(arrays.factor_blocks.values[o], branch);
      all.probabilities.insert(all.probabilities.end(), branch.probabilities.begin(), branch.probabilities.end());
      all.words.insert(all.words.end(), branch.words.begin(), branch.words.end());
      if (all.probabilities.size() / 4 > max_successors_ || all.words.size() > kMaxWords) {
        throw TooManySuccessors(action_);
      }
    }
    // What is added stays true whatever is deleted, and deleting what is false changes nothing.
    for (std::size_t i = 0; i < all.probabilities.size(); ++i) {
      Word* adds = all.words.data() + i * stride;
      for (std::size_t w = 0; w < words; ++w) adds[words + w] &= state_[w] & ~adds[w];
    }
    merge(all.probabilities, all.words, stride);
    if (all.probabilities.size() > max_successors_) throw TooManySuccessors(action_);
    outcomes = std::move(all);
  }
}

void Expander::merge(std::vector<double>& probabilities, std::vector<Word>& words, std::size_t stride) {
  const std::size_t count = probabilities.size();
  if (count < 2) return;
  std::size_t capacity = 4;
  while (capacity < 2 * count) capacity *= 2;
  slots_.assign(capacity, 0);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Word* item = words.data() + i * stride;
    std::size_t slot = hash_words(item, stride) & (capacity - 1);
    while (slots_[slot] != 0 && !std::equal(item, item + stride, words.data() + (slots_[slot] - 1) * stride)) {
      slot = (slot + 1) & (capacity - 1);
    }
    interruption_tick();
    if (slots_[slot] != 0) {
      probabilities[slots_[slot] - 1] += probabilities[i];
      continue;
    }
    if (kept != i) {
      std::copy(item, item + stride, words.data() + kept * stride);
      probabilities[kept] = probabilities[i];
    }
    slots_[slot] = static_cast<std::uint32_t>(++kept);
  }
  roundings_ += static_cast<std::uint32_t>(count - kept);
  probabilities.resize(kept);
  words.resize(kept * stride);
}

}  // namespace asnets
