// Copies of a task side by side, for actions that are chosen outside: one step of all of them at a time.
//
// An episode is that of `Simulator` for its seed and number and the same actions, whatever the other copies and the
// number of threads: each copy has the random stream of its own (seed, episode).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "heuristics/dead_end_detector.hpp"
#include "policy/episodes.hpp"
#include "random.hpp"
#include "simulator.hpp"
#include "successor_generator.hpp"
#include "task.hpp"

namespace asnets {

// An action that cannot be taken; which copy was to take it.
struct WrongAction : std::invalid_argument {
  WrongAction(std::size_t copy_number, const std::string& message)
      : std::invalid_argument(message), copy(copy_number) {}
  std::size_t copy;
};

class Environments {
 public:
  // What is seen of each copy; a row each. Whoever fills this in keeps the memory.
  struct Views {
    std::span<std::int8_t> bits;   // The propositions, 1 where true.
    std::span<std::int8_t> masks;  // The actions, 1 where applicable.
  };
  // What came of a step; one number for each copy.
  struct Results {
    std::span<double> costs;
    std::span<std::int8_t> endings;       // As `Ending`; kGoesOn where the episode goes on.
    std::span<std::int8_t> inapplicable;  // 1 where the action could not be applied and nothing changed.
  };
  static constexpr std::int8_t kGoesOn = -1;

  // With `is_strict`, `step` throws where an action is not applicable; else such an action costs what it costs and
  // changes nothing. Without detectors, only states in which nothing can be done are dead ends.
  Environments(const Task& task, const SuccessorGenerator& generator, const DetectorFactory& make_detector,
               std::size_t count, std::int64_t max_steps, bool is_strict, unsigned num_threads);

  std::size_t size() const { return copies_.size(); }
  const Task& task() const { return task_; }
  // The first episode of a seed begins, or that of another number.
  void start(std::size_t copy, std::uint64_t seed, std::uint64_t episode);
  // The next episode of the seed that it has begins.
  void start_next(std::size_t copy);
  void look(const Views& views);
  // One step of all copies; those whose episode has ended begin the next one instead, whatever their action. Throws
  // WrongAction, and changes nothing, where there is no such action or a strict one is not applicable.
  void step(std::span<const ActionId> actions, const Results& results, const Views& views);

  std::uint64_t seed(std::size_t copy) const { return copies_[copy].seed; }
  std::uint64_t episode(std::size_t copy) const { return copies_[copy].episode; }
  const Word* state(std::size_t copy) const { return states_.data() + copy * task_.num_words(); }

 private:
  struct Copy {
    std::uint64_t seed = 0;
    std::uint64_t episode = 0;
    RandomStream random{0, 0};
    std::int64_t steps = 0;
    bool has_ended = false;
  };
  // Scratch space of a thread.
  struct Worker {
    Sampler sampler;
    std::unique_ptr<DeadEndDetector> detector;
    ActionList applicable;
    std::vector<std::int32_t> stack;
  };

  Word* words(std::size_t copy) { return states_.data() + copy * task_.num_words(); }
  void check(std::size_t copy, ActionId action) const;
  // Calls `work(worker, copy)` for all copies, on all threads.
  template <typename Work>
  void for_each_copy(Work&& work);
  void see(Worker& worker, std::size_t copy, const Views& views);
  std::int8_t judge(Worker& worker, std::size_t copy, bool has_changed);

  const Task& task_;
  const SuccessorGenerator& generator_;
  std::int64_t max_steps_;
  bool is_strict_;
  std::vector<Copy> copies_;
  std::vector<Word> states_;
  std::vector<Worker> workers_;
};

}  // namespace asnets
