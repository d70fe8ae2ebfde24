#include "verification/explorer.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "flat_actions.hpp"
#include "interruption.hpp"
#include "search/budget.hpp"
#include "verification/block.hpp"
#include "verification/frontier.hpp"
#include "verification/model_builder.hpp"
#include "verification/workers.hpp"

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
    model_->states.drop_index();
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
