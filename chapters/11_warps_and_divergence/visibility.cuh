// SPDX-License-Identifier: MIT
// Chapter 11, --show visibility: when does one thread see what another wrote? Included by
// warps_and_divergence.cu. make sanitize leaves out the rows without an order: they are races.
//
// flag_plain, flag_volatile, flag_relaxed   a warp waits for a flag: how is it read?
// The other rows hand over a message and a flag that says it is there, a thousand times, between
// two warps of a block (in_block) or between two blocks (across). What orders the two?
// volatile_*  nothing: both are volatile, and the message is read as an ordinary variable
// block_fence_*, device_fence_*  __threadfence_block or __threadfence on either side
// block_scope_*, device_scope_*  release and acquire by cuda::atomic_ref, with that scope
#pragma once

#include <cuda/atomic>

// How a flag is read and written, and what orders it and the message.
enum class Way {
  kPlain,
  kVolatile,
  kRelaxed,
  kBlockFence,
  kDeviceFence,
  kBlockScope,
  kDeviceScope
};

template <Way kWay>
constexpr auto kScope =
    kWay == Way::kBlockScope ? cuda::thread_scope_block : cuda::thread_scope_device;
template <Way kWay>
constexpr bool kIsAtomic =
    kWay == Way::kRelaxed || kWay == Way::kBlockScope || kWay == Way::kDeviceScope;

template <Way kWay>
__device__ void fence() {
  if constexpr (kWay == Way::kBlockFence) __threadfence_block();
  if constexpr (kWay == Way::kDeviceFence) __threadfence();
}

template <Way kWay>
__device__ unsigned read_flag(unsigned* flag) {
  if constexpr (kWay == Way::kPlain) {
    return *flag;
  } else if constexpr (kIsAtomic<kWay>) {
    cuda::atomic_ref<unsigned, kScope<kWay>> word(*flag);
    return word.load(kWay == Way::kRelaxed ? cuda::memory_order_relaxed
                                           : cuda::memory_order_acquire);
  } else {
    return *static_cast<volatile unsigned*>(flag);
  }
}

template <Way kWay>
__device__ void write_flag(unsigned* flag, unsigned value) {
  if constexpr (kIsAtomic<kWay>) {
    cuda::atomic_ref<unsigned, kScope<kWay>> word(*flag);
    word.store(value,
               kWay == Way::kRelaxed ? cuda::memory_order_relaxed : cuda::memory_order_release);
  } else {
    *static_cast<volatile unsigned*>(flag) = value;
  }
}

// Warp 1 raises the flag after a while. Warp 0 looks at it, `turns` times at most; *turn becomes
// the turn in which it saw it. A plain flag is nothing that the compiler reads twice: nobody else
// can change it, as far as the source says.
template <Way kWay>
__global__ void wait_for_flag(unsigned* flag, unsigned turns, unsigned* turn) {
  if (threadIdx.x == kWarp) {
    const std::uint64_t begin = global_timer_ns();
    while (global_timer_ns() - begin < 10000) {
    }
    write_flag<kWay>(flag, 1);
  } else if (threadIdx.x == 0) {
    unsigned k = 0;
    while (k < turns && read_flag<kWay>(flag) == 0) ++k;
    *turn = k;
  }
}

// The two threads, their message and two flags, far enough apart not to share a cache line.
struct Mailbox {
  unsigned message[32], sent[32], taken[32];
};
struct Tally {
  unsigned old, delivered;  // old: messages that were not there when their flag was
};

// Waits until *flag is `value`; false after `patience_ns`.
template <Way kWay>
__device__ bool wait_until(unsigned* flag, unsigned value, std::uint64_t patience_ns) {
  const std::uint64_t begin = global_timer_ns();
  while (read_flag<kWay>(flag) != value) {
    if (global_timer_ns() - begin > patience_ns) return false;
  }
  return true;
}

// The message is 1, 2, ... `count`. Before each the reader looks at the old one, so that its SM and
// its registers have a copy that goes stale.
template <Way kWay>
__global__ void hand_over(Mailbox* box, unsigned count, std::uint64_t patience_ns, Tally* tally) {
  if (threadIdx.x % kWarp != 0) return;
  const bool writer = threadIdx.x != 0 || blockIdx.x != 0;
  Tally mine{0, 0};
  for (unsigned k = 1; k <= count; ++k) {
    if (writer) {
      if (!wait_until<kWay>(box->taken, k, patience_ns)) return;
      *box->message = k;
      fence<kWay>();  // who sees the flag sees the message too
      write_flag<kWay>(box->sent, k);
    } else {
      const unsigned before = *box->message;
      write_flag<kWay>(box->taken, k + (before >= k));  // a message of the future: never
      if (!wait_until<kWay>(box->sent, k, patience_ns)) break;
      fence<kWay>();  // the message is not read before the flag was
      mine.old += *box->message != k;
      ++mine.delivered;
    }
  }
  if (!writer) *tally = mine;
}

namespace visibility {

constexpr unsigned kTurns = kOnGpu ? 1000000 : 100000;
constexpr unsigned kMessages = kOnGpu ? 1000 : 20;
constexpr std::uint64_t kPatienceNs = kOnGpu ? 100000000 : 50000000;

// Two warps of a block.
template <Way kWay>
void launch_wait(unsigned* flag, unsigned* turn) {
  wait_for_flag<kWay><<<1, 2 * kWarp>>>(flag, kTurns, turn);
}
// Two warps of a block, or two blocks of a warp.
template <Way kWay, bool kAcross>
void launch_hand_over(Mailbox* box, std::uint64_t patience_ns, Tally* tally) {
  hand_over<kWay>
      <<<kAcross ? 2 : 1, kAcross ? kWarp : 2 * kWarp>>>(box, kMessages, patience_ns, tally);
}

struct FlagRow {
  const char* name;
  const char* summary;
  void (*launch)(unsigned* flag, unsigned* turn);
  bool is_seen;  // for certain
};
const FlagRow kFlagRows[] = {
    {"flag_plain", "a warp waits for an ordinary variable", launch_wait<Way::kPlain>, false},
    {"flag_volatile", "for a volatile one", launch_wait<Way::kVolatile>, kOnGpu},
    {"flag_relaxed", "for an atomic one, without order", launch_wait<Way::kRelaxed>, true},
};

struct MessageRow {
  const char* name;
  const char* summary;
  void (*launch)(Mailbox*, std::uint64_t, Tally*);
  bool is_ordered;
};
const MessageRow kMessageRows[] = {
    {"volatile_in_block", "volatile, between warps", launch_hand_over<Way::kVolatile, false>,
     false},
    {"block_fence_in_block", "__threadfence_block, between warps",
     launch_hand_over<Way::kBlockFence, false>, true},
    {"device_fence_in_block", "__threadfence, between warps",
     launch_hand_over<Way::kDeviceFence, false>, true},
    {"block_scope_in_block", "atomic_ref, block scope, between warps",
     launch_hand_over<Way::kBlockScope, false>, true},
    {"device_scope_in_block", "atomic_ref, device scope, between warps",
     launch_hand_over<Way::kDeviceScope, false>, true},
    {"volatile_across", "volatile, between blocks", launch_hand_over<Way::kVolatile, true>, false},
    {"block_fence_across", "__threadfence_block, between blocks",
     launch_hand_over<Way::kBlockFence, true>, false},
    {"device_fence_across", "__threadfence, between blocks",
     launch_hand_over<Way::kDeviceFence, true>, true},
    {"block_scope_across", "atomic_ref, block scope, between blocks",
     launch_hand_over<Way::kBlockScope, true>, false},
    {"device_scope_across", "atomic_ref, device scope, between blocks",
     launch_hand_over<Way::kDeviceScope, true>, true},
};

inline void name_rows(Options& opt) {
  for (const FlagRow& row : kFlagRows) opt.version(row.name, row.summary);
  for (const MessageRow& row : kMessageRows) opt.version(row.name, row.summary);
}

// The turn in which the flag was seen; kTurns: in none.
inline unsigned turn_seen(const FlagRow& row) {
  const DeviceArray<unsigned> flag(std::vector<unsigned>{0}), turn(1);
  row.launch(flag.get(), turn.get());
  CUDA_CHECK_LAUNCH();
  return turn.download()[0];
}

inline Tally hand_over_all(const MessageRow& row, std::uint64_t patience_ns = kPatienceNs) {
  const DeviceArray<Mailbox> box(std::vector<Mailbox>(1, Mailbox{}));
  const DeviceArray<Tally> tally(1);
  row.launch(box.get(), patience_ns, tally.get());
  CUDA_CHECK_LAUNCH();
  return tally.download()[0];
}

inline void add_flag_row(ResultTable& table, const FlagRow& row) {
  unsigned turn = 0;
  const Timing t = time_once([&] { turn = turn_seen(row); });
  const bool seen = turn < kTurns;
  table.add_with_rate(row.name, t, 0, seen || !row.is_seen, seen ? "ok" : "not seen");
  table.measured(
      row.name, turn, "turns",
      std::string(row.name) + (seen ? ": seen in turn " + std::to_string(turn)
                                    : ": not seen in " + std::to_string(kTurns) + " turns"));
}

// Flags may be missed across blocks where their scope is the block. And on the CPU backend volatile
// ones are never seen within a block: a thread that reads in a loop does not let the other one run.
inline void add_message_row(ResultTable& table, const MessageRow& row) {
  Tally tally{0, 0};
  const Timing t = time_once([&] { tally = hand_over_all(row); });
  const bool all = tally.delivered == kMessages;
  const bool ok = tally.old <= tally.delivered && tally.delivered <= kMessages &&
                  (all || !kOnGpu || !row.is_ordered) && (!row.is_ordered || tally.old == 0);
  table.add_with_rate(row.name, t, 0, ok, tally.old > 0 ? "old" : all ? "ok" : "gave up");
  table.measured(row.name, tally.old, "old",
                 std::string(row.name) + ": " + std::to_string(tally.old) + " of " +
                     std::to_string(tally.delivered) + " messages old");
  table.measured(row.name, tally.delivered, "delivered", "");
}

inline int run(ResultTable& table) {
  table.without_speedup();
  for (const FlagRow& row : kFlagRows) {
    if (table.options().wants(row.name)) add_flag_row(table, row);
  }
  for (const MessageRow& row : kMessageRows) {
    if (table.options().wants(row.name)) add_message_row(table, row);
  }
  return table.finish();
}

}  // namespace visibility
