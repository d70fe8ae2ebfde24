// The sparse parts of a network's forward and backward pass, for float and double.
//
// Matrices are row-major and `width` wide. A node of the network (an action, a proposition, a set) owns a block of
// consecutive rows, one for each state of its problem: the rows of node i are starts[i] … starts[i + 1] - 1. Two nodes
// that are connected belong to one problem, so that their blocks have the same number of rows, and row k of the one reads
// row k of the other. So the connections are stored once for all states of a minibatch, and the inner loops run over
// whole blocks.
//
// All loops are sequential: the same inputs give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace asnets {

using Indices = std::span<const std::int32_t>;

// A matrix and the blocks of its nodes.
template <typename T>
struct Blocks {
  T* values;
  Indices starts;
};

// out[i] += source[index[i]], for each node i of `out`.
template <typename T>
void gather_add(Blocks<T> out, Blocks<const T> source, Indices index, std::size_t width);

// source[index[i]] += out[i]: the gradient of gather_add.
template <typename T>
void scatter_add(Blocks<T> source, Blocks<const T> out, Indices index, std::size_t width);

// out[i] = elementwise maximum (or minimum) of source[j] over the members j of list i; 0 where the list is empty.
// `chosen` has the shape of `out` and says for each element the first row of the block of the member that it is from, -1
// where there is none. Of equal members the first is chosen.
template <typename T>
void pool(Blocks<T> out, std::int32_t* chosen, Blocks<const T> source, Indices offsets, Indices members,
          std::size_t width, bool minimum);

// Adds the gradient of each element of `out` to the element of `source` that was chosen.
template <typename T>
void pool_backward(T* source, const std::int32_t* chosen, Blocks<const T> out, std::size_t width);

}  // namespace asnets
