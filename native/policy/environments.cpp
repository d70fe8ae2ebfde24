#include "policy/environments.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>

#include "assert.hpp"

namespace asnets {

Environments::Environments(const Task& task, const SuccessorGenerator& generator, const DetectorFactory& make_detector,
                           std::size_t count, std::int64_t max_steps, bool is_strict, unsigned num_threads)
    : task_(task),
      generator_(generator),
      max_steps_(max_steps),
      is_strict_(is_strict),
      copies_(count),
      states_(count * task.num_words()) {
  if (count == 0) throw std::invalid_argument("expected at least one copy");
  if (max_steps < 1) throw std::invalid_argument("expected a step limit of at least 1");
  const auto wanted = std::max<std::size_t>(1, std::min<std::size_t>(num_threads, count));
  for (std::size_t i = 0; i < wanted; ++i) {
    workers_.push_back({Sampler(task), make_detector ? make_detector() : nullptr, {}, {}});
    // The relaxation is made here, where the work may be left, and not in the middle of a step.
    if (make_detector) workers_.back().detector->is_dead_end(task.initial_state().data());
  }
  for (std::size_t i = 0; i < count; ++i) start(i, 0, i);
}

void Environments::start(std::size_t copy, std::uint64_t seed, std::uint64_t episode) {
  ASNETS_ASSERT(copy < size());
  copies_[copy] = {seed, episode, RandomStream(seed, episode), 0, false};
  std::copy(task_.initial_state().begin(), task_.initial_state().end(), words(copy));
}

void Environments::start_next(std::size_t copy) {
  ASNETS_ASSERT(copy < size());
  start(copy, copies_[copy].seed, copies_[copy].episode + 1);
}

void Environments::look(const Views& views) {
  for_each_copy([&](Worker& worker, std::size_t copy) {
    generator_.applicable(words(copy), worker.applicable, worker.stack);
    see(worker, copy, views);
  });
}

void Environments::step(std::span<const ActionId> actions, const Results& results, const Views& views) {
  if (actions.size() != size()) throw std::invalid_argument("expected an action for each copy");
  ASNETS_ASSERT(results.costs.size() == size() && results.endings.size() == size() &&
                results.inapplicable.size() == size());
  for (std::size_t copy = 0; copy < size(); ++copy) check(copy, actions[copy]);
  for_each_copy([&](Worker& worker, std::size_t copy) {
    Copy& own = copies_[copy];
    results.costs[copy] = 0;
    results.endings[copy] = kGoesOn;
    results.inapplicable[copy] = 0;
    if (own.has_ended) {
      start_next(copy);
      generator_.applicable(words(copy), worker.applicable, worker.stack);
    } else {
      const ActionId action = actions[copy];
      const bool is_applicable = task_.is_applicable(action, words(copy));
      ASNETS_ASSERT(is_applicable || !is_strict_);
      results.costs[copy] = task_.cost(action, words(copy));
      if (is_applicable) worker.sampler.step(words(copy), action, own.random);
      ++own.steps;
      results.inapplicable[copy] = !is_applicable;
      results.endings[copy] = judge(worker, copy, is_applicable);
      own.has_ended = results.endings[copy] != kGoesOn;
    }
    see(worker, copy, views);
  });
}

void Environments::check(std::size_t copy, ActionId action) const {
  if (copies_[copy].has_ended) return;
  if (action < 0 || static_cast<std::size_t>(action) >= task_.num_actions()) {
    throw WrongAction(copy, "there is no such action");
  }
  if (is_strict_ && !task_.is_applicable(action, state(copy))) throw WrongAction(copy, "the action is not applicable");
}

std::int8_t Environments::judge(Worker& worker, std::size_t copy, bool has_changed) {
  const Word* const now = words(copy);
  generator_.applicable(now, worker.applicable, worker.stack);
  ASNETS_ASSERT(std::all_of(worker.applicable.actions().begin(), worker.applicable.actions().end(),
                            [&](ActionId action) { return task_.is_applicable(action, now); }));
  const auto code = [](Ending ending) { return static_cast<std::int8_t>(ending); };
  if (task_.is_goal(now)) return code(Ending::kGoal);
  if (worker.applicable.empty()) return code(Ending::kDeadEnd);
  // Where nothing changed, the state was looked at before.
  const bool looks = worker.detector != nullptr && has_changed;
  if (looks && worker.detector->is_dead_end(now)) return code(Ending::kDeadEnd);
  ASNETS_ASSERT(copies_[copy].steps <= max_steps_);
  return copies_[copy].steps == max_steps_ ? code(Ending::kStepLimit) : kGoesOn;
}

void Environments::see(Worker& worker, std::size_t copy, const Views& views) {
  const std::size_t num_propositions = task_.num_propositions();
  const std::size_t num_actions = task_.num_actions();
  ASNETS_ASSERT(views.bits.size() == size() * num_propositions && views.masks.size() == size() * num_actions);
  const Word* const now = words(copy);
  std::int8_t* const bits = views.bits.data() + copy * num_propositions;
  for (std::size_t p = 0; p < num_propositions; ++p) bits[p] = static_cast<std::int8_t>(now[p >> 6] >> (p & 63) & 1);
  std::int8_t* const mask = views.masks.data() + copy * num_actions;
  std::fill(mask, mask + num_actions, std::int8_t{0});
  for (const ActionId action : worker.applicable.actions()) mask[action] = 1;
}

template <typename Work>
void Environments::for_each_copy(Work&& work) {
  const std::size_t num_workers = workers_.size();
  std::vector<std::exception_ptr> failures(num_workers);
  const auto run = [&](std::size_t number) {
    try {
      for (std::size_t i = number * size() / num_workers; i < (number + 1) * size() / num_workers; ++i) {
        work(workers_[number], i);
      }
    } catch (...) {
      failures[number] = std::current_exception();
    }
  };
  // Threads for one step each, so that copies of the process, which have no threads but one, can go on.
  std::vector<std::thread> threads;
  threads.reserve(num_workers);
  std::size_t started = 1;
  try {
    for (; started < num_workers; ++started) threads.emplace_back(run, started);
  } catch (const std::system_error&) {
    // The system has no more threads to give: the calling one does their share.
  }
  run(0);
  for (std::size_t number = started; number < num_workers; ++number) run(number);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace asnets
