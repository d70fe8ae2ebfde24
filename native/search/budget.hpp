// Limits of a search and the way it ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "deadline.hpp"
#include "interruption.hpp"

namespace asnets {

enum class Status : int { kConverged, kTime, kMemory, kExpansions, kTrials, kInterrupted, kPrecision, kWork };
// kPrecision: floating point does not let the bounds come as near to each other as was asked for.

struct SearchLimits {
  double seconds = 0;          // Wall time; 0: none.
  std::size_t memory = 0;      // Resident set of the process, in bytes; 0: none.
  std::size_t expansions = 0;  // 0: none.
  std::size_t trials = 0;      // 0: none.
  double cpu_seconds = 0;      // CPU time of the calling thread; 0: none.
  const Deadline* deadline = nullptr;
  std::size_t work = 0;        // Units of `Statistics::work`; 0: none.
};

inline constexpr std::size_t kEvaluationWork = 16;

struct Statistics {
  std::size_t expanded = 0;
  std::size_t evaluated = 0;
  std::size_t backups = 0;
  std::size_t trials = 0;
  // Successors that expansions and backups looked at; what is evaluated counts kEvaluationWork for each action and proposition
  // of the task. On tasks of all kinds a unit is a few nanoseconds, so that a limit on it is one on time that is the same
  // everywhere.
  std::size_t work = 0;
  double seconds = 0;
  std::size_t peak_memory = 0;  // Largest resident set seen, in bytes.
};

// Thrown at a point where the search can be left and taken up again.
struct SearchStopped {
  Status status;
};

std::size_t resident_memory();

// Watches limits and the caller's wish to stop during one call of a solver; on one thread.
class Budget {
 public:
  // `poll` is called several times a second and returns true to stop.
  Budget(const SearchLimits& limits, Statistics& statistics, const std::function<bool()>& poll);

  // To be called once for each unit of work (a backup, say); throws SearchStopped. Heuristics and the like, which know
  // no budget, get there by interruption points.
  void tick() {
    scope_.tick();
    if (statistics_.work > work_end_) throw SearchStopped{Status::kWork};
  }
  void check();
  // Before each trial and each expansion; counts are kept exactly, whatever the clock says.
  void start_trial();
  void start_expansion();
  // Brings seconds and memory of the statistics up to date.
  void record();

 private:
  using Clock = std::chrono::steady_clock;

  const SearchLimits& limits_;
  Statistics& statistics_;
  const std::function<bool()>& poll_;
  Clock::time_point start_;
  double cpu_start_;
  double seconds_before_;
  std::size_t expanded_before_;
  std::size_t trials_before_;
  std::size_t memory_end_ = 0;  // Where the search stops.
  std::size_t work_end_;        // Likewise.
  InterruptionScope scope_;
};

}  // namespace asnets
