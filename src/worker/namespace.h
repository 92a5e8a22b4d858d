// What rollcall-namespace and its launcher agree on.
#pragma once

namespace rollcall::worker {

// Nothing is ever written to it; its end tells rollcall-namespace to end.
inline constexpr int kNamespaceLifelineFd = 3;

// Its exit status. 0: nobody was left in the namespace.
inline constexpr int kNoNamespace = 2;      // started by hand
inline constexpr int kNotCounted = 3;       // its /proc could not be read
inline constexpr int kProcessesLeft = 100;  // and as many more as processes were left,
inline constexpr int kMostCounted = 100;    // at most

}  // namespace rollcall::worker
