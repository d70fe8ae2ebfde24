// Invariants of the native code, checked in debug and sanitizer builds (ASNETS_ASSERTIONS). What comes from outside is
// checked in every build, by exceptions.
#pragma once

#ifdef ASNETS_ASSERTIONS

#include <cstdio>
#include <cstdlib>

#define ASNETS_ASSERT(condition)                                                                           \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      std::fprintf(stderr, "%s:%d: invariant violated: %s\n", __FILE__, __LINE__, #condition);             \
      std::abort();                                                                                        \
    }                                                                                                      \
  } while (false)

#else

#define ASNETS_ASSERT(condition) static_cast<void>(0)

#endif
