#include "search/budget.hpp"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach/mach.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace asnets {

namespace {

// The share of the memory left at the beginning after which a search stops: tables grow in leaps, and stopping a little
// early keeps the peak near the limit.
constexpr double kMemoryShare = 0.95;

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// How often limits are looked at: where little time is given, often enough that it holds.
std::chrono::microseconds interval_for(const SearchLimits& limits) {
  constexpr double kLooks = 20;
  const double longest = static_cast<double>(InterruptionScope::kInterval.count());
  const double wanted = limits.seconds > 0 ? 1e6 * limits.seconds / kLooks : longest;
  return std::chrono::microseconds(static_cast<std::int64_t>(std::clamp(wanted, 200.0, longest)));
}

}  // namespace

std::size_t resident_memory() {
#ifdef __APPLE__
  mach_task_basic_info information{};
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&information), &count) ==
      KERN_SUCCESS) {
    return static_cast<std::size_t>(information.resident_size);
  }
#endif
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    unsigned long size = 0;
    unsigned long resident = 0;
    const int read = std::fscanf(file, "%lu %lu", &size, &resident);
    std::fclose(file);
    if (read == 2) return static_cast<std::size_t>(resident) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  // Elsewhere, the peak has to do.
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<std::size_t>(usage.ru_maxrss);  // In bytes there.
#else
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
#endif
}

Budget::Budget(const SearchLimits& limits, Statistics& statistics, const std::function<bool()>& poll)
    : limits_(limits),
      statistics_(statistics),
      poll_(poll),
      start_(Clock::now()),
      cpu_start_(thread_cpu_seconds()),
      seconds_before_(statistics.seconds),
      expanded_before_(statistics.expanded),
      trials_before_(statistics.trials),
      work_end_(limits.work > 0 ? statistics.work + limits.work : std::numeric_limits<std::size_t>::max()),
      scope_([this] { check(); }, interval_for(limits)) {
  const std::size_t used = resident_memory();
  const std::size_t left = limits.memory > used ? limits.memory - used : 0;
  memory_end_ = limits.memory - left + static_cast<std::size_t>(kMemoryShare * static_cast<double>(left));
}

void Budget::check() {
  const auto now = Clock::now();
  record();
  if (limits_.seconds > 0 && std::chrono::duration<double>(now - start_).count() >= limits_.seconds) {
    throw SearchStopped{Status::kTime};
  }
  if (limits_.cpu_seconds > 0 && thread_cpu_seconds() - cpu_start_ >= limits_.cpu_seconds) {
    throw SearchStopped{Status::kTime};
  }
  if (limits_.memory > 0 && resident_memory() >= memory_end_) throw SearchStopped{Status::kMemory};
  if (limits_.deadline != nullptr && limits_.deadline->has_passed()) {
    throw SearchStopped{limits_.deadline->is_cancelled() ? Status::kInterrupted : Status::kTime};
  }
  if (poll_()) throw SearchStopped{Status::kInterrupted};
}

void Budget::start_trial() {
  if (limits_.trials > 0 && statistics_.trials - trials_before_ >= limits_.trials) {
    throw SearchStopped{Status::kTrials};
  }
  ++statistics_.trials;
}

void Budget::start_expansion() {
  if (limits_.expansions > 0 && statistics_.expanded - expanded_before_ >= limits_.expansions) {
    throw SearchStopped{Status::kExpansions};
  }
}

void Budget::record() {
  statistics_.seconds = seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
  statistics_.peak_memory = std::max(statistics_.peak_memory, resident_memory());
}

}  // namespace asnets
