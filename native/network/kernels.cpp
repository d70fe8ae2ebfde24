#include "network/kernels.hpp"

#include <algorithm>

#include "network/clones.hpp"

namespace asnets {

namespace {

// The compiler makes no clones of templates, so that each loop is written for both types by a macro.
#define ASNETS_LOOPS(T)                                                                                        \
  ASNETS_VECTORISED void add(T* __restrict out, const T* __restrict in, std::size_t count) {                   \
    for (std::size_t i = 0; i < count; ++i) out[i] += in[i];                                                   \
  }                                                                                                            \
  ASNETS_VECTORISED void keep_largest(T* __restrict out, std::int32_t* __restrict chosen,                      \
                                      const T* __restrict in, std::int32_t row, std::size_t count) {           \
    for (std::size_t i = 0; i < count; ++i) {                                                                  \
      const bool better = in[i] > out[i];                                                                      \
      out[i] = better ? in[i] : out[i];                                                                        \
      chosen[i] = better ? row : chosen[i];                                                                    \
    }                                                                                                          \
  }                                                                                                            \
  ASNETS_VECTORISED void keep_smallest(T* __restrict out, std::int32_t* __restrict chosen,                     \
                                       const T* __restrict in, std::int32_t row, std::size_t count) {          \
    for (std::size_t i = 0; i < count; ++i) {                                                                  \
      const bool better = in[i] < out[i];                                                                      \
      out[i] = better ? in[i] : out[i];                                                                        \
      chosen[i] = better ? row : chosen[i];                                                                    \
    }                                                                                                          \
  }
ASNETS_LOOPS(float)
ASNETS_LOOPS(double)
#undef ASNETS_LOOPS

std::size_t at(Indices values, std::size_t i) { return static_cast<std::size_t>(values[i]); }

}  // namespace

template <typename T>
void gather_add(Blocks<T> out, Blocks<const T> source, Indices index, std::size_t width) {
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::size_t begin = at(out.starts, i);
    const std::size_t count = (at(out.starts, i + 1) - begin) * width;
    add(out.values + begin * width, source.values + at(source.starts, at(index, i)) * width, count);
  }
}

template <typename T>
void scatter_add(Blocks<T> source, Blocks<const T> out, Indices index, std::size_t width) {
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::size_t begin = at(out.starts, i);
    const std::size_t count = (at(out.starts, i + 1) - begin) * width;
    add(source.values + at(source.starts, at(index, i)) * width, out.values + begin * width, count);
  }
}

template <typename T>
void pool(Blocks<T> out, std::int32_t* chosen, Blocks<const T> source, Indices offsets, Indices members,
          std::size_t width, bool minimum) {
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const std::size_t begin = at(out.starts, i) * width;
    const std::size_t count = at(out.starts, i + 1) * width - begin;
    if (count == 0) continue;
    T* const values = out.values + begin;
    std::int32_t* const rows = chosen + begin;
    const Indices list = members.subspan(at(offsets, i), at(offsets, i + 1) - at(offsets, i));
    if (list.empty()) {
      std::fill_n(values, count, T{0});
      std::fill_n(rows, count, -1);
      continue;
    }
    const std::int32_t first = source.starts[at(list, 0)];
    std::copy_n(source.values + static_cast<std::size_t>(first) * width, count, values);
    std::fill_n(rows, count, first);
    for (std::size_t k = 1; k < list.size(); ++k) {
      const std::int32_t row = source.starts[at(list, k)];
      const T* const member = source.values + static_cast<std::size_t>(row) * width;
      if (minimum) {
        keep_smallest(values, rows, member, row, count);
      } else {
        keep_largest(values, rows, member, row, count);
      }
    }
  }
}

template <typename T>
void pool_backward(T* source, const std::int32_t* chosen, Blocks<const T> out, std::size_t width) {
  for (std::size_t i = 0; i + 1 < out.starts.size(); ++i) {
    const std::size_t begin = at(out.starts, i) * width;
    const std::size_t end = at(out.starts, i + 1) * width;
    for (std::size_t k = begin; k < end; ++k) {
      // Lists are empty for all elements of a block or for none.
      if (chosen[k] < 0) break;
      source[static_cast<std::size_t>(chosen[k]) * width + (k - begin)] += out.values[k];
    }
  }
}

#define ASNETS_INSTANTIATE(T)                                                                                     \
  template void gather_add<T>(Blocks<T>, Blocks<const T>, Indices, std::size_t);                                  \
  template void scatter_add<T>(Blocks<T>, Blocks<const T>, Indices, std::size_t);                                 \
  template void pool<T>(Blocks<T>, std::int32_t*, Blocks<const T>, Indices, Indices, std::size_t, bool);          \
  template void pool_backward<T>(T*, const std::int32_t*, Blocks<const T>, std::size_t);
ASNETS_INSTANTIATE(float)
ASNETS_INSTANTIATE(double)
#undef ASNETS_INSTANTIATE

}  // namespace asnets
