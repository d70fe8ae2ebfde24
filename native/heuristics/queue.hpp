// Priority queues for Dijkstra-like explorations: buckets for small whole costs, a binary heap for all others.
#pragma once

#include <cstdint>
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace asnets {

template <typename Cost>
class HeapQueue {
 public:
  using Entry = std::pair<Cost, std::int32_t>;

  void clear() { entries_.clear(); }
  bool empty() const { return entries_.empty(); }
  void push(Cost cost, std::int32_t item) {
    entries_.emplace_back(cost, item);
    std::push_heap(entries_.begin(), entries_.end(), std::greater<>());
  }
  Entry pop() {
    std::pop_heap(entries_.begin(), entries_.end(), std::greater<>());
    const Entry entry = entries_.back();
    entries_.pop_back();
    return entry;
  }

 private:
  std::vector<Entry> entries_;
};

// Costs must not fall below that of the last entry popped. Costs beyond the buckets go to a heap.
class BucketQueue {
 public:
  using Entry = std::pair<std::int32_t, std::int32_t>;

  void clear() {
    for (; size_ > 0 && current_ < buckets_.size(); ++current_) {
      size_ -= buckets_[current_].size();
      buckets_[current_].clear();
    }
    size_ = 0;
    current_ = 0;
    beyond_.clear();
  }
  bool empty() const { return size_ == 0 && beyond_.empty(); }
  void push(std::int32_t cost, std::int32_t item) {
    const auto index = static_cast<std::size_t>(cost);
    if (index >= kMaxBuckets) {
      beyond_.push(cost, item);
      return;
    }
    if (index >= buckets_.size()) buckets_.resize(index + 1);
    buckets_[index].push_back(item);
    ++size_;
    if (index < current_) current_ = index;
  }
  Entry pop() {
    if (size_ == 0) return beyond_.pop();
    while (buckets_[current_].empty()) ++current_;
    const std::int32_t item = buckets_[current_].back();
    buckets_[current_].pop_back();
    --size_;
    return {static_cast<std::int32_t>(current_), item};
  }

 private:
  static constexpr std::size_t kMaxBuckets = 1 << 14;

  std::vector<std::vector<std::int32_t>> buckets_;
  std::size_t current_ = 0;
  std::size_t size_ = 0;
  HeapQueue<std::int32_t> beyond_;
};

}  // namespace asnets
