// ASSERT and DASSERT: broken invariants stop the process at once, with the place and the condition.
//
// ASSERT is compiled into every build; use it at entry and where data changes hands. DASSERT costs
// something on the packet path and is compiled into builds without NDEBUG only.
#pragma once

namespace ringway {

// Prints the broken condition and aborts. Never returns.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace ringway

#define ASSERT(condition)                              \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::ringway::assertion_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define DASSERT(condition) static_cast<void>(0)
#else
#define DASSERT(condition) ASSERT(condition)
#endif
