// Versions of a function for machines with and without AVX2, chosen when the library is loaded.
#pragma once

#include <cstdlib>  // For __GLIBC__: other C libraries do not choose functions when they are loaded.

// Not with fused multiply-add, so that both give the same bits. Sanitizers cannot work in the code that chooses.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define ASNETS_HAS_CLONES
#define ASNETS_VECTORISED __attribute__((target_clones("avx2", "default")))
#else
#define ASNETS_VECTORISED
#endif
