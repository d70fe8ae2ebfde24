#include "simulator.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

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
    Outcomes all;
    for (std::size_t o = begin; o < end; ++o) {
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
  probabilities.resize(kept);
  words.resize(kept * stride);
}

// --- Episodes ---

namespace {

class RandomWalker {
 public:
  RandomWalker(const Task& task, const SuccessorGenerator& generator)
      : task_(task), generator_(generator), sampler_(task) {}

  // Calls `observe(state, action)` before each action; `stopped()` is asked every so often.
  template <typename Observe, typename Stopped>
  Episode run(RandomStream random, std::int64_t max_steps, Observe&& observe, Stopped&& stopped) {
    state_ = task_.initial_state();
    Episode episode;
    for (;; ++episode.steps) {
      if (task_.is_goal(state_.data())) {
        episode.ending = Ending::kGoal;
        return episode;
      }
      if (episode.steps == max_steps) {
        episode.ending = Ending::kStepLimit;
        return episode;
      }
      generator_.applicable(state_.data(), actions_, stack_);
      if (actions_.empty()) {
        episode.ending = Ending::kDeadEnd;
        return episode;
      }
      if (episode.steps % 1024 == 1023 && stopped()) {
        episode.ending = Ending::kInterrupted;
        return episode;
      }
      const ActionId action = actions_.actions()[random.below(actions_.actions().size())];
      observe(state_, action);
      episode.cost += task_.cost(action);
      sampler_.step(state_.data(), action, random);
    }
  }

  const std::vector<Word>& state() const { return state_; }

 private:
  const Task& task_;
  const SuccessorGenerator& generator_;
  Sampler sampler_;
  std::vector<Word> state_;
  ActionList actions_;
  std::vector<std::int32_t> stack_;
};

}  // namespace

std::vector<Episode> run_random_episodes(const Task& task, const SuccessorGenerator& generator, std::uint64_t seed,
                                         std::uint64_t first, std::size_t count, std::int64_t max_steps,
                                         unsigned num_threads, const std::function<bool()>& poll) {
  std::vector<Episode> episodes(count);
  for (Episode& episode : episodes) episode.ending = Ending::kInterrupted;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::atomic<unsigned> running{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;

  const auto work = [&] {
    try {
      RandomWalker walker(task, generator);
      for (std::size_t i = next++; i < count && !stop; i = next++) {
        episodes[i] = walker.run(
            RandomStream(seed, first + i), max_steps, [](const std::vector<Word>&, ActionId) {},
            [&] { return stop.load(std::memory_order_relaxed); });
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      failure = std::current_exception();
      stop = true;
    }
    --running;
  };

  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, num_threads); ++t) {
    ++running;
    try {
      threads.emplace_back(work);
    } catch (const std::system_error&) {
      --running;
      if (threads.empty()) throw;
      break;  // The system has no more threads to give: those that run do the work.
    }
  }
  // The calling thread only waits, so that signals are answered however long an episode takes.
  auto pause = std::chrono::microseconds(20);
  auto last_poll = std::chrono::steady_clock::now();
  while (running != 0) {
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(5000));
    if (std::chrono::steady_clock::now() - last_poll > std::chrono::milliseconds(50)) {
      last_poll = std::chrono::steady_clock::now();
      if (poll()) stop = true;
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return episodes;
}

Trace trace_random_episode(const Task& task, const SuccessorGenerator& generator, std::uint64_t seed,
                           std::uint64_t episode, std::int64_t max_steps, const std::function<bool()>& poll) {
  Trace trace;
  RandomWalker walker(task, generator);
  trace.episode = walker.run(
      RandomStream(seed, episode), max_steps,
      [&](const std::vector<Word>& state, ActionId action) {
        trace.states.insert(trace.states.end(), state.begin(), state.end());
        trace.actions.push_back(action);
      },
      poll);
  trace.states.insert(trace.states.end(), walker.state().begin(), walker.state().end());
  return trace;
}

}  // namespace asnets
