// SPDX-License-Identifier: MIT
// Work that goes on when other streams, or other processes, have come to theirs (libs/nccl, which
// is compiled only for programs that use it). A moment that is reached so names the rendezvous; the
// work that comes to it does, too.
#pragma once

namespace cuda_cpu {

struct Moment;

/// Replaced before main where such a library is compiled.
struct RendezvousRules {
  /// Reaches the moments of those whose others have come. False: of none. No work runs meanwhile.
  bool (*proceed)() = [] { return false; };
  /// A host thread needs this moment, and nothing here can go on: waits a little, or reports that
  /// nobody will come. `waited`: seconds so far.
  void (*wait)(const Moment& awaited, double waited) = [](const Moment&, double) {};
};
inline RendezvousRules rendezvous_rules;

/// For the library: the moment is reached now.
void reach_rendezvous(Moment& moment);

}  // namespace cuda_cpu
