// The inner loops of the forward pass for one state, on vectors of a multiple of kLanes floats.
//
// Hidden vectors are padded to such a multiple (`stride`), so that no loop has a remainder. The elements of the padding
// hold whatever comes of weights of 0; nothing reads them. Every function adds in a fixed order, without fused
// multiply-add: the same inputs give the same bits on every machine, whatever was computed before.
#pragma once

#include <cstddef>
#include <cstdint>

namespace asnets {

inline constexpr std::size_t kLanes = 8;

inline std::size_t padded(std::size_t width) { return (width + kLanes - 1) / kLanes * kLanes; }

enum class Function : std::uint8_t { kIdentity, kElu, kRelu, kTanh, kSigmoid };

// out = f(Σ_k rows[k]); at least one row. Never gives -0, so that maxima do not depend on the order of their members.
void sum_rows(float* out, const float* const* rows, std::size_t count, std::size_t stride, Function function);

// out = f(start + Σ_k Σ_i inputs[k][i] · column(k, i)), over i < hidden. The columns, `stride` long, lie one after the
// other. `start` may be null for 0. Never gives -0.
void multiply(float* out, const float* start, const float* columns, const float* const* inputs, std::size_t count,
              std::size_t hidden, std::size_t stride, Function function);

// out = start + Σ_i values[i] · column(i), over i < count in this order; what is multiplied by 0 is left out.
void add_columns(float* out, const float* start, const float* columns, const float* values, std::size_t count,
                 std::size_t stride);

// Σ_i a[i] · b[i] over a whole vector; one of the two has 0 in its padding.
float dot(const float* a, const float* b, std::size_t stride);

// out = the elementwise maximum (or minimum) of rows of a matrix: those of these numbers, or with null the first ones.
// At least one.
void extreme(float* out, const float* matrix, const std::int32_t* rows, std::size_t count, std::size_t stride,
             bool minimum);

// What happens to a maximum (minimum) if one of its members changes.
enum class Effect : std::uint8_t { kNone, kGrows, kUnknown };

// kUnknown where the member was an extreme element and is no longer as extreme; where the maximum only grows, it is
// brought up to date.
Effect replace_member(float* extreme, const float* before, const float* after, std::size_t stride, bool minimum);

}  // namespace asnets
