// SPDX-License-Identifier: MIT
// When does one thread see what another wrote?
//
// Each row hands over messages, each with a flag that says it is there, between two warps of a
// block (in_block) or between two blocks (across). What orders message and flag?
// volatile_*  nothing: the flag is volatile, the message an ordinary variable
// block_fence_*, device_fence_*  __threadfence_block or __threadfence on either side
// block_scope_*, device_scope_*  release and acquire by cuda::atomic_ref, with that scope

#include <cuda/atomic>

#include "../../../common/common.cuh"

constexpr unsigned kWarp = 32;
constexpr std::uint64_t kPatienceNs = kOnGpu ? 100000000 : 50000000;

enum class Way { kVolatile, kBlockFence, kDeviceFence, kBlockScope, kDeviceScope };

template <Way kWay>
constexpr bool kIsAtomic = kWay == Way::kBlockScope || kWay == Way::kDeviceScope;
template <Way kWay>
constexpr auto kScope =
    kWay == Way::kBlockScope ? cuda::thread_scope_block : cuda::thread_scope_device;

template <Way kWay>
__device__ void fence() {
  if constexpr (kWay == Way::kBlockFence) __threadfence_block();
  if constexpr (kWay == Way::kDeviceFence) __threadfence();
}

template <Way kWay>
__device__ unsigned read_flag(unsigned* flag) {
  if constexpr (kIsAtomic<kWay>) {
    cuda::atomic_ref<unsigned, kScope<kWay>> word(*flag);
    return word.load(cuda::memory_order_acquire);
  } else {
    return *static_cast<volatile unsigned*>(flag);
  }
}

template <Way kWay>
__device__ void write_flag(unsigned* flag, unsigned value) {
  if constexpr (kIsAtomic<kWay>) {
    cuda::atomic_ref<unsigned, kScope<kWay>> word(*flag);
    word.store(value, cuda::memory_order_release);
  } else {
    *static_cast<volatile unsigned*>(flag) = value;
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

struct Row {
  const char *name, *summary;
  void (*kernel)(Mailbox* box, unsigned count, std::uint64_t patience_ns, Tally* tally);
  unsigned blocks;  // for the two warps
  bool is_ordered;
};

const Row kRows[] = {
    {"volatile_in_block", "between warps", hand_over<Way::kVolatile>, 1, false},
    {"block_fence_in_block", "between warps", hand_over<Way::kBlockFence>, 1, true},
    {"device_fence_in_block", "between warps", hand_over<Way::kDeviceFence>, 1, true},
    {"block_scope_in_block", "between warps", hand_over<Way::kBlockScope>, 1, true},
    {"device_scope_in_block", "between warps", hand_over<Way::kDeviceScope>, 1, true},
    {"volatile_across", "between blocks", hand_over<Way::kVolatile>, 2, false},
    {"block_fence_across", "between blocks", hand_over<Way::kBlockFence>, 2, false},
    {"device_fence_across", "between blocks", hand_over<Way::kDeviceFence>, 2, true},
    {"block_scope_across", "between blocks", hand_over<Way::kBlockScope>, 2, false},
    {"device_scope_across", "between blocks", hand_over<Way::kDeviceScope>, 2, true},
};

Tally hand_over_all(const Row& row, unsigned messages, std::uint64_t patience_ns) {
  const DeviceArray<Mailbox> box(std::vector<Mailbox>(1, Mailbox{}));
  const DeviceArray<Tally> tally(1);
  row.kernel<<<row.blocks, 2 * kWarp / row.blocks>>>(box, messages, patience_ns, tally);
  CUDA_CHECK_LAUNCH();
  return tally.download()[0];
}

// Flags may be missed across blocks where their scope is the block. And on the CPU backend, where
// the two threads take turns, their patience may end before the other has had its turn.
bool is_right(const Row& row, const Tally& tally, std::size_t messages) {
  if (!row.is_ordered) return tally.old <= tally.delivered && tally.delivered <= messages;
  return tally.old == 0 && (kOnGpu ? tally.delivered == messages : tally.delivered <= messages);
}

int main(int argc, char** argv) {
  std::size_t messages = kOnGpu ? 1000 : 20;
  const Options opt(argc, argv, "11_message_order", "when is a message seen?",
                    {{"messages", &messages, 1, 1_Mi, "how many are handed over"}});
  ResultTable table(opt, sizeof(Mailbox));
  table.without_speedup();
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    const double begin = host_ms();
    const Tally tally = hand_over_all(row, messages, kPatienceNs);
    const char* const seen = tally.delivered == messages ? "ok" : "gave up";
    table.row(row.name, timing_of({host_ms() - begin}), 0, is_right(row, tally, messages),
              tally.old > 0 ? "old" : seen);
    table.measured(row.name, tally.old, "old", row.name, ": ", tally.old, " of ", tally.delivered,
                   " messages old");
    table.measured(row.name, tally.delivered, "delivered");
  }
  return table.finish();
}
