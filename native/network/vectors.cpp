#include "network/vectors.hpp"

#include <cstring>

#include "network/clones.hpp"

namespace asnets {

namespace {

// Rows are aligned as floats are.
using Vec = float __attribute__((vector_size(kLanes * sizeof(float)), aligned(alignof(float)), may_alias));
using Mask = std::int32_t __attribute__((vector_size(kLanes * sizeof(float))));

// What is shared by the clones must become part of each; vectors go by reference, since how they are passed by value
// depends on the machine.
#define ASNETS_INLINE inline __attribute__((always_inline))

#ifdef __clang__
// It forgets that a reference is aligned as floats are. How a vector is returned does not matter: these become parts of
// their callers.
#pragma clang diagnostic ignored "-Wpsabi"
ASNETS_INLINE Vec load(const float* values) {
  Vec vector;
  std::memcpy(&vector, values, sizeof(vector));
  return vector;
}
ASNETS_INLINE void store(float* values, const Vec& vector) { std::memcpy(values, &vector, sizeof(vector)); }
#else
ASNETS_INLINE const Vec& load(const float* values) { return *reinterpret_cast<const Vec*>(values); }
ASNETS_INLINE void store(float* values, const Vec& vector) { *reinterpret_cast<Vec*>(values) = vector; }
#endif

// x = exp(x) for x ≤ 0 or small; the error is about 1e-7 of the result. exp(x) = 2^n · exp(r) with |r| ≤ ln(2) / 2, the
// latter by its Taylor polynomial of degree 7.
ASNETS_INLINE void exponential(Vec& x) {
  const Vec zero{};
  x = x < -87.0f ? zero - 87.0f : x;
  x = x > 88.0f ? zero + 88.0f : x;
  // Adding this rounds to a whole number, which then stands in the lowest bits.
  constexpr float kRound = 12582912.0f;
  const Vec shifted = x * 1.44269504088896341f + kRound;
  const Vec n = shifted - kRound;
  const Vec r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  Vec y = r * (1.0f / 5040) + 1.0f / 720;
  y = y * r + 1.0f / 120;
  y = y * r + 1.0f / 24;
  y = y * r + 1.0f / 6;
  y = y * r + 0.5f;
  y = y * r * r + r + 1.0f;
  const Vec round = zero + kRound;
  const Mask bits = reinterpret_cast<Mask>(shifted) - reinterpret_cast<Mask>(round);
  const Mask power = (bits + 127) << 23;
  x = y * reinterpret_cast<Vec>(power);
}

// x = f(x), and 0 for -0.
ASNETS_INLINE void apply(Vec& x, Function function) {
  const Vec zero{};
  switch (function) {
    case Function::kIdentity:
      break;
    case Function::kElu: {
      Vec y = x > 0.0f ? zero : x;
      exponential(y);
      x = x > 0.0f ? x : y - 1.0f;
      break;
    }
    case Function::kRelu:
      x = x > 0.0f ? x : zero;
      break;
    case Function::kTanh: {
      Vec y = x * 2.0f;
      exponential(y);
      x = 1.0f - 2.0f / (y + 1.0f);
      break;
    }
    case Function::kSigmoid: {
      Vec y = zero - x;
      exponential(y);
      x = 1.0f / (y + 1.0f);
      break;
    }
  }
  x = x + 0.0f;
}

template <std::size_t kVectors>
ASNETS_INLINE void sum_part(float* out, const float* const* rows, std::size_t count, std::size_t offset,
                            Function function) {
  Vec sums[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sums[v] = load(rows[0] + offset + v * kLanes);
  for (std::size_t k = 1; k < count; ++k) {
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] += load(rows[k] + offset + v * kLanes);
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    apply(sums[v], function);
    store(out + offset + v * kLanes, sums[v]);
  }
}

// Two sums for each vector, of even and odd inputs, so that additions need not wait for each other.
template <std::size_t kVectors>
ASNETS_INLINE void multiply_part(float* out, const float* start, const float* columns, const float* const* inputs,
                                 std::size_t count, std::size_t hidden, std::size_t stride, std::size_t offset,
                                 Function function) {
  Vec even[kVectors]{};
  Vec odd[kVectors]{};
  if (start != nullptr) {
    for (std::size_t v = 0; v < kVectors; ++v) even[v] = load(start + offset + v * kLanes);
  }
  const float* column = columns + offset;
  for (std::size_t k = 0; k < count; ++k) {
    const float* const input = inputs[k];
    std::size_t i = 0;
    for (; i + 1 < hidden; i += 2, column += 2 * stride) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        even[v] += input[i] * load(column + v * kLanes);
        odd[v] += input[i + 1] * load(column + stride + v * kLanes);
      }
    }
    if (i < hidden) {
      for (std::size_t v = 0; v < kVectors; ++v) even[v] += input[i] * load(column + v * kLanes);
      column += stride;
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    even[v] += odd[v];
    apply(even[v], function);
    store(out + offset + v * kLanes, even[v]);
  }
}

}  // namespace

ASNETS_VECTORISED void sum_rows(float* out, const float* const* rows, std::size_t count, std::size_t stride,
                                Function function) {
  std::size_t offset = 0;
  for (; offset + 2 * kLanes <= stride; offset += 2 * kLanes) sum_part<2>(out, rows, count, offset, function);
  if (offset < stride) sum_part<1>(out, rows, count, offset, function);
}

ASNETS_VECTORISED void multiply(float* out, const float* start, const float* columns, const float* const* inputs,
                                std::size_t count, std::size_t hidden, std::size_t stride, Function function) {
  std::size_t offset = 0;
  for (; offset + 2 * kLanes <= stride; offset += 2 * kLanes) {
    multiply_part<2>(out, start, columns, inputs, count, hidden, stride, offset, function);
  }
  if (offset < stride) multiply_part<1>(out, start, columns, inputs, count, hidden, stride, offset, function);
}

ASNETS_VECTORISED void add_columns(float* out, const float* start, const float* columns, const float* values,
                                   std::size_t count, std::size_t stride) {
  for (std::size_t i = 0; i < stride; i += kLanes) {
    Vec sum = load(start + i);
    for (std::size_t k = 0; k < count; ++k) {
      if (values[k] != 0) sum += values[k] * load(columns + k * stride + i);
    }
    store(out + i, sum);
  }
}

ASNETS_VECTORISED float dot(const float* a, const float* b, std::size_t stride) {
  Vec sum{};
  for (std::size_t i = 0; i < stride; i += kLanes) sum += load(a + i) * load(b + i);
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

ASNETS_VECTORISED void extreme(float* out, const float* matrix, const std::int32_t* rows, std::size_t count,
                               std::size_t stride, bool minimum) {
  for (std::size_t i = 0; i < stride; i += kLanes) {
    Vec best = load(matrix + (rows == nullptr ? 0 : static_cast<std::size_t>(rows[0])) * stride + i);
    for (std::size_t k = 1; k < count; ++k) {
      const Vec& next = load(matrix + (rows == nullptr ? k : static_cast<std::size_t>(rows[k])) * stride + i);
      best = minimum ? (next < best ? next : best) : (next > best ? next : best);
    }
    store(out + i, best);
  }
}

ASNETS_VECTORISED Effect replace_member(float* extreme, const float* before, const float* after, std::size_t stride,
                                        bool minimum) {
  Mask grows{};
  Mask unknown{};
  for (std::size_t i = 0; i < stride; i += kLanes) {
    const Vec& current = load(extreme + i);
    const Vec& next = load(after + i);
    const Mask more = minimum ? next < current : next > current;
    const Mask less = minimum ? next > current : next < current;
    grows |= more;
    unknown |= (load(before + i) == current) & less;
  }
  std::int32_t any_grows = 0;
  std::int32_t any_unknown = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    any_grows |= grows[lane];
    any_unknown |= unknown[lane];
  }
  if (any_unknown != 0) return Effect::kUnknown;
  if (any_grows == 0) return Effect::kNone;
  for (std::size_t i = 0; i < stride; i += kLanes) {
    const Vec& current = load(extreme + i);
    const Vec& next = load(after + i);
    store(extreme + i, minimum ? (next < current ? next : current) : (next > current ? next : current));
  }
  return Effect::kGrows;
}

}  // namespace asnets
