#include "build.hpp"

#include "network/clones.hpp"

namespace asnets {

namespace {

[[maybe_unused]] std::string version(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace

std::string compiler() {
#if defined(__clang__)
  return "Clang " + version(__clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return "GCC " + version(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "an unknown compiler";
#endif
}

std::string kernel_variant() {
#if defined(ASNETS_HAS_CLONES)
  if (__builtin_cpu_supports("avx2")) return "avx2";
#endif
  return "baseline";
}

std::vector<std::string> processor_features() {
  std::vector<std::string> features;
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("sse4.2")) features.emplace_back("sse4.2");
  if (__builtin_cpu_supports("avx")) features.emplace_back("avx");
  if (__builtin_cpu_supports("avx2")) features.emplace_back("avx2");
  if (__builtin_cpu_supports("fma")) features.emplace_back("fma");
  if (__builtin_cpu_supports("avx512f")) features.emplace_back("avx512f");
#elif defined(__ARM_NEON)
  features.emplace_back("neon");
#endif
  return features;
}

}  // namespace asnets
