#include "verification/explorer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "flat_actions.hpp"
#include "interruption.hpp"
#include "search/budget.hpp"
#include "verification/block.hpp"

namespace asnets {

namespace {

using Clock = std::chrono::steady_clock;

// What is left of a model when a limit is reached.
struct ExplorationStopped {
  Exploration status;
};

// States of a block: so few that a limit is met soon, so many that handing them over costs nothing.
constexpr std::size_t kMaxBlock = 256;
// The share of the memory left at the beginning after which exploration stops; see budget.cpp.
constexpr double kMemoryShare = 0.95;

// The model as it grows: numbers states and writes their transitions, in the order of exploration.
class ModelBuilder {
 public:
  ModelBuilder(const Task& task, ExplicitModel& model) : task_(task), model_(model) {
    model.first_transition.push_back(0);
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
      if (outcome.cost < 0) model_.has_negative_cost = true;
      model_.largest_cost = std::max(model_.largest_cost, std::abs(outcome.cost));
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

// Which state is explored next. Both orders depend on the model alone.
class Frontier {
 public:
  virtual ~Frontier() = default;
  // False if there is none until all that were taken have been added, or at all.
  virtual bool take(StateId& state) = 0;
  virtual void added(StateId state) = 0;
  // To be called when all that were taken have been added.
  virtual void refill() {}
  virtual std::size_t size() const = 0;
};

class BreadthFirst final : public Frontier {
 public:
  explicit BreadthFirst(const ExplicitModel& model) : model_(model) {}
  bool take(StateId& state) override {
    while (next_ < model_.num_states() && model_.kind(next_) == StateKind::kGoal) ++next_;
    if (next_ == model_.num_states()) return false;
    state = next_++;
    return true;
  }
  void added(StateId) override {}
  std::size_t size() const override { return model_.num_states() - next_; }

 private:
  const ExplicitModel& model_;
  StateId next_ = 0;
};

// Probability flows from the initial state along transitions; what lies in states that have not been explored is what
// they are chosen by. What comes back to explored states flows on, a few steps in each round.
class LikeliestFirst final : public Frontier {
 public:
  LikeliestFirst(const ExplicitModel& model, const ModelBuilder& builder) : model_(model), builder_(builder) {
    grow();
    if (!open_.empty()) mass_[0] = 1;
    refill();
  }

  bool take(StateId& state) override {
    if (next_ == round_.size()) return false;
    state = round_[next_++];
    return true;
  }
  void added(StateId state) override {
    grow();
    is_explored_[state] = true;
    ++explored_;
    flow(state);
  }
  void refill() override {
    for (int sweep = 0; sweep < kSweeps && !again_.empty(); ++sweep) {
      sweep_.swap(again_);
      again_.clear();
      for (const StateId state : sweep_) {
        interruption_tick();
        flow(state);
      }
    }
    std::erase_if(open_, [&](StateId state) { return is_explored_[state]; });
    const std::size_t count = std::min(open_.size(), std::max(kLeastRound, explored_ / kRoundShare));
    const auto middle = open_.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(open_.begin(), middle == open_.end() ? open_.end() : middle, open_.end(),
                     [&](StateId a, StateId b) { return mass_[a] > mass_[b] || (mass_[a] == mass_[b] && a < b); });
    round_.assign(open_.begin(), middle);
    std::sort(round_.begin(), round_.end());  // States that were met together are alike, which policies make use of.
    next_ = 0;
  }
  std::size_t size() const override { return open_.size() - next_; }

 private:
  static constexpr int kSweeps = 4;
  static constexpr std::size_t kLeastRound = 64;
  static constexpr std::size_t kRoundShare = 8;

  void grow() {
    for (std::size_t state = mass_.size(); state < model_.num_states(); ++state) {
      if (model_.kinds[state] == static_cast<std::uint8_t>(StateKind::kUnexplored)) {
        open_.push_back(static_cast<StateId>(state));
      }
    }
    mass_.resize(model_.num_states(), 0);
    is_explored_.resize(model_.num_states(), false);
  }
  void flow(StateId state) {
    if (model_.kind(state) != StateKind::kInner) return;
    const double mass = std::exchange(mass_[state], 0);
    const std::size_t choice = builder_.row(state).first;
    for (std::uint64_t t = model_.first_transition[choice]; t < model_.first_transition[choice + 1]; ++t) {
      const StateId successor = model_.successors[t];
      if (is_explored_[successor] && mass_[successor] == 0 && model_.kind(successor) == StateKind::kInner) {
        again_.push_back(successor);
      }
      mass_[successor] += mass * model_.probabilities[t];
    }
  }

  const ExplicitModel& model_;
  const ModelBuilder& builder_;
  std::vector<double> mass_;
  std::vector<bool> is_explored_;
  std::size_t explored_ = 0;
  std::vector<StateId> open_;
  std::vector<StateId> round_;
  std::size_t next_ = 0;
  std::vector<StateId> again_;
  std::vector<StateId> sweep_;
};

// Works blocks out, on threads of its own.
class Workers {
 public:
  using Work = std::function<void(StateBlock&)>;
  // Makes what one thread needs.
  using WorkFactory = std::function<Work()>;

  Workers(unsigned count, WorkFactory make) : make_(std::move(make)) {
    for (unsigned t = 0; t < std::max(1u, count); ++t) {
      try {
        threads_.emplace_back([this] { run(); });
      } catch (const std::system_error&) {
        if (threads_.empty()) throw;
        break;  // The system has no more threads to give: those that run do the work.
      }
    }
  }
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  std::size_t size() const { return threads_.size(); }
  void submit(StateBlock& block) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(&block);
    }
    work_.notify_one();
  }
  // Whether the block is done; waits a few milliseconds for it.
  bool wait(const StateBlock& block) {
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, std::chrono::milliseconds(5), [&] { return block.is_done; });
  }

 private:
  void run() {
    const InterruptionScope scope([this] {
      if (stop_) throw Interrupted{};
    });
    Work work;
    for (;;) {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [&] { return stop_ || !queue_.empty(); });
      if (stop_) return;
      StateBlock& block = *queue_.front();
      queue_.pop_front();
      lock.unlock();
      try {
        if (!work) work = make_();
        work(block);
      } catch (const Interrupted&) {
        return;
      } catch (...) {
        block.failure = std::current_exception();
      }
      lock.lock();
      block.is_done = true;
      lock.unlock();
      done_.notify_one();
    }
  }

  WorkFactory make_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::deque<StateBlock*> queue_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

class Explorer {
 public:
  Explorer(const Task& task, const SuccessorGenerator& generator, const ExplorationOptions& options,
           const ExplorationPoll& poll)
      : task_(task),
        generator_(generator),
        options_(options),
        poll_(poll),
        flat_(flatten_actions(task)),
        model_(std::make_unique<ExplicitModel>(task.num_words())),
        builder_(task, *model_) {
    const std::size_t used = resident_memory();
    const std::size_t left = options.memory > used ? options.memory - used : 0;
    memory_end_ = options.memory - left + static_cast<std::size_t>(kMemoryShare * static_cast<double>(left));
    if (options.likeliest_first) {
      builder_.add_in_any_order();
      frontier_ = std::make_unique<LikeliestFirst>(*model_, builder_);
    } else {
      frontier_ = std::make_unique<BreadthFirst>(*model_);
    }
  }

  // On threads; `make` makes what expands a block.
  template <typename Make>
  std::unique_ptr<ExplicitModel> run(Make&& make) {
    explore([&] {
      // Blocks outlive the workers that write to them.
      std::deque<std::unique_ptr<StateBlock>> under_way;
      std::vector<std::unique_ptr<StateBlock>> spare;
      Workers workers(options_.threads,
                      [&] { return make(std::make_shared<BlockExpander>(task_, generator_, flat_)); });
      for (;;) {
        while (under_way.size() < 4 * workers.size()) {
          if (spare.empty()) spare.push_back(std::make_unique<StateBlock>());
          std::unique_ptr<StateBlock> block = std::move(spare.back());
          spare.pop_back();
          const std::size_t wanted = frontier_->size() / (4 * workers.size());
          if (!take(*block, std::clamp<std::size_t>(wanted, 1, kMaxBlock))) {
            spare.push_back(std::move(block));
            break;
          }
          under_way.push_back(std::move(block));
          workers.submit(*under_way.back());
        }
        if (under_way.empty()) {
          frontier_->refill();
          if (frontier_->size() == 0) return;
          continue;
        }
        while (!workers.wait(*under_way.front())) interruption_point();
        commit(*under_way.front());
        spare.push_back(std::move(under_way.front()));
        under_way.pop_front();
      }
    });
    return std::move(model_);
  }

  // On this thread, asking a policy outside about more and more states at once.
  std::unique_ptr<ExplicitModel> run_asking(const PolicyOutside& policy) {
    explore([&] {
      BlockExpander expander(task_, generator_, flat_);
      StateBlock block;
      std::vector<const Word*> asked;
      std::vector<std::size_t> positions;
      std::vector<ActionDistribution> answers;
      ActionList applicable;
      std::vector<std::int32_t> stack;
      std::size_t lot = 1;
      for (;;) {
        if (!take(block, lot)) {
          frontier_->refill();
          if (frontier_->size() == 0) return;
          continue;
        }
        asked.clear();
        positions.clear();
        block.distributions.assign(block.ids.size(), {});
        for (std::size_t i = 0; i < block.ids.size(); ++i) {
          const Word* const state = block.states.data() + i * task_.num_words();
          generator_.applicable(state, applicable, stack);
          if (applicable.empty()) continue;
          asked.push_back(state);
          positions.push_back(i);
        }
        const auto begin = Clock::now();
        if (!asked.empty()) policy(asked, answers);
        if (Clock::now() - begin < std::chrono::milliseconds(50)) lot = std::min(lot * 2, kMaxBlock * 16);
        for (std::size_t i = 0; i < positions.size(); ++i) block.distributions[positions[i]] = std::move(answers[i]);
        expander.expand_distributions(block);
        commit(block);
      }
    });
    return std::move(model_);
  }

 private:
  template <typename Loop>
  void explore(Loop&& loop) {
    try {
      const InterruptionScope scope([this] { check(); });
      loop();
    } catch (const ExplorationStopped& stopped) {
      model_->status = stopped.status;
    }
    builder_.finish();
  }

  bool take(StateBlock& block, std::size_t count) {
    block.clear();
    StateId state = 0;
    while (block.ids.size() < count && frontier_->take(state)) {
      block.ids.push_back(state);
      const Word* const words = model_->states.state(state);
      block.states.insert(block.states.end(), words, words + task_.num_words());
    }
    return !block.ids.empty();
  }

  void commit(const StateBlock& block) {
    if (block.failure) std::rethrow_exception(block.failure);
    for (std::size_t i = 0; i < block.ids.size(); ++i) {
      interruption_tick();
      if (options_.max_states > 0 && model_->num_states() >= options_.max_states) {
        throw ExplorationStopped{Exploration::kStates};
      }
      builder_.add(block, i);
      frontier_->added(block.ids[i]);
    }
  }

  void check() {
    if (options_.memory > 0 && resident_memory() + builder_.memory_to_finish() >= memory_end_) {
      throw ExplorationStopped{Exploration::kMemory};
    }
    if (options_.deadline != nullptr && options_.deadline->has_passed()) {
      throw ExplorationStopped{options_.deadline->is_cancelled() ? Exploration::kInterrupted : Exploration::kTime};
    }
    if (poll_(model_->num_states(), frontier_->size())) throw ExplorationStopped{Exploration::kInterrupted};
  }

  const Task& task_;
  const SuccessorGenerator& generator_;
  const ExplorationOptions& options_;
  const ExplorationPoll& poll_;
  std::vector<FlatAction> flat_;
  std::unique_ptr<ExplicitModel> model_;
  ModelBuilder builder_;
  std::unique_ptr<Frontier> frontier_;
  std::size_t memory_end_ = 0;
};

}  // namespace

std::unique_ptr<ExplicitModel> explore_chain(const Task& task, const SuccessorGenerator& generator,
                                             const PolicyFactory& make_policy, const ExplorationOptions& options,
                                             const ExplorationPoll& poll) {
  return Explorer(task, generator, options, poll).run([&](std::shared_ptr<BlockExpander> expander) {
    return [expander, policy = std::shared_ptr<Policy>(make_policy())](StateBlock& block) {
      expander->expand_policy(block, *policy);
    };
  });
}

std::unique_ptr<ExplicitModel> explore_chain(const Task& task, const SuccessorGenerator& generator,
                                             const PolicyOutside& policy, const ExplorationOptions& options,
                                             const ExplorationPoll& poll) {
  return Explorer(task, generator, options, poll).run_asking(policy);
}

std::unique_ptr<ExplicitModel> explore_mdp(const Task& task, const SuccessorGenerator& generator,
                                           const ExplorationOptions& options, const ExplorationPoll& poll) {
  return Explorer(task, generator, options, poll).run([](std::shared_ptr<BlockExpander> expander) {
    return [expander](StateBlock& block) { expander->expand_actions(block); };
  });
}

}  // namespace asnets
