// How this library was compiled, and what of it this machine runs.
#pragma once

#include <string>
#include <vector>

namespace asnets {

// Name and version of the compiler.
std::string compiler();

// Which variant of the vectorised functions runs here: "avx2", or "baseline" for what every machine of its kind has.
std::string kernel_variant();

// What this processor can do, of what programs like to know: "avx2", "fma" and the like. Empty where there is no asking.
std::vector<std::string> processor_features();

}  // namespace asnets
