// SPDX-License-Identifier: MIT
#include "scheduler.h"

#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "diagnostics.h"
#include "observer.h"

namespace cuda_cpu {

__thread uint3 running_thread_index;
__thread uint3 running_block_index;
__thread dim3 running_block_dim;
__thread dim3 running_grid_dim;

__thread Thread* current_thread = nullptr;
__thread Block* current_block = nullptr;
__thread Worker* current_worker = nullptr;

const Observer* observer = nullptr;

// A spin loop of successful atomics gets this many tries before others run.
constexpr unsigned kAtomicsPerTurn = 1024;
__thread unsigned atomics_until_yield = kAtomicsPerTurn;

const std::uint32_t kAlwaysRunnable = 1;  // with seen = 0
const std::uint32_t kNeverRunnable = 0;

namespace {

// Room for a kernel's local arrays; pages that are not touched cost nothing. Instrumented frames
// are several times larger.
constexpr std::size_t kStackBytes = kSanitized ? 512 * 1024 : 256 * 1024;

// Rounds in which every thread only yielded, before another block gets its turn: a lock that is
// held for a few rounds should not make a second block resident.
constexpr unsigned kIdleRounds = 16;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::uint64_t next_random(std::uint64_t* state) {  // splitmix64
  std::uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// A pseudo-random permutation of 0 .. count-1 without a table: a Feistel network on the next even
// number of bits, applied until the result is in range.
std::uint64_t permuted(std::uint64_t position, std::uint64_t count, std::uint64_t seed) {
  unsigned half = 1;
  while ((std::uint64_t{1} << (2 * half)) < count) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  std::uint64_t value = position;
  do {
    std::uint64_t left = value >> half, right = value & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      std::uint64_t state = seed ^ (round << 56) ^ right;
      const std::uint64_t mixed = left ^ (next_random(&state) & mask);
      left = right;
      right = mixed;
    }
    value = (left << half) | right;
  } while (value >= count);
  return value;
}

Schedule read_schedule() {
  const char* const text = std::getenv("CUDA_CPU_SCHEDULE");
  if (text == nullptr || *text == '\0' || std::strcmp(text, "forward") == 0) {
    return {Schedule::Kind::kForward, 0};
  }
  if (std::strcmp(text, "reverse") == 0) return {Schedule::Kind::kReverse, 0};
  if (std::strncmp(text, "random:", 7) == 0 && text[7] >= '0' && text[7] <= '9') {
    char* end = nullptr;
    const std::uint64_t seed = std::strtoull(text + 7, &end, 10);
    if (*end == '\0') return {Schedule::Kind::kRandom, seed};
  }
  die("CUDA_CPU_SCHEDULE=%s: expected forward, reverse or random:SEED", text);
}

unsigned read_worker_count() {
  if (const char* const text = std::getenv("CUDA_CPU_WORKERS")) {
    char* end = nullptr;
    const long count = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || count < 1 || count > 64) {
      die("CUDA_CPU_WORKERS=%s: expected a number from 1 to 64", text);
    }
    return static_cast<unsigned>(count);
  }
  const unsigned hardware = std::thread::hardware_concurrency();
  return hardware == 0 ? 1 : hardware < 8 ? hardware : 8;
}

}  // namespace

const Schedule& schedule() {
  static const Schedule chosen = read_schedule();
  return chosen;
}

unsigned worker_count() {
  [[maybe_unused]] static const unsigned count = read_worker_count();
#if defined(CUDA_CPU_TSAN)
  // A race is a missing order, which TSan sees on one OS thread as well; on several it would see
  // the engine's own accesses.
  return 1;
#else
  return count;
#endif
}

bool early_return_allowed() {
  static const bool allowed = [] {
    const char* const text = std::getenv("CUDA_CPU_EARLY_RETURN");
    if (text == nullptr || std::strcmp(text, "error") == 0) return false;
    if (std::strcmp(text, "allow") == 0) return true;
    die("CUDA_CPU_EARLY_RETURN=%s: expected error or allow", text);
  }();
  return allowed;
}

std::size_t stack_bytes_per_thread() { return kStackBytes; }

// ---------------------------------------------------------------------------------------------------------
// Stacks
// ---------------------------------------------------------------------------------------------------------

namespace {

void run_on_new_stack(void* argument) {
  auto* const stack = static_cast<Stack*>(argument);
#if defined(CUDA_CPU_ASAN)
  const void* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
  if (stack->worker->home_bottom ==
      nullptr) {  // the first switch of all comes from the OS thread's stack
    stack->worker->home_bottom = bottom;
    stack->worker->home_size = size;
  }
#endif
  stack->worker->run_threads(stack);
}

// Where on its stack the runner with this number starts. Tops that are all page-aligned would
// compete for the same few sets of the L1 cache.
std::size_t stack_shift(std::size_t number) { return number % 16 * 256; }

void make_runner(Worker* worker, std::size_t number) {
  Stack* const stack = worker->stacks[number];
#if defined(CUDA_CPU_ASAN)
  __asan_unpoison_memory_region(stack->bottom, stack->size);
#endif
  stack->context = cuda_cpu_new_context(stack->bottom + stack->size - stack_shift(number),
                                        run_on_new_stack, stack);
}

// All stacks lie in a few mappings, known here so that the fault handler can tell an overflow.
struct StackSlab {
  std::atomic<char*> begin{nullptr};
  std::size_t bytes = 0;
};
constexpr std::size_t kStacksPerSlab = 32;
constexpr std::size_t kMaxSlabs = 4096;
StackSlab stack_slabs[kMaxSlabs];
std::atomic<std::size_t> stack_slab_count{0};

void add_stacks(Worker* worker) {
  const std::size_t guard = page_bytes();
  const std::size_t step = kStackBytes + guard;
  const std::size_t number = stack_slab_count.fetch_add(1);
  if (number >= kMaxSlabs) die("out of memory for stacks");
  void* const mapped = mmap(nullptr, step * kStacksPerSlab, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) die("out of memory for stacks");
  char* const base = static_cast<char*>(mapped);
  stack_slabs[number].bytes = step * kStacksPerSlab;
  stack_slabs[number].begin.store(base);
  for (std::size_t i = 0; i < kStacksPerSlab; ++i) {
    if (mprotect(base + i * step, guard, PROT_NONE) != 0) {
      die("no guard page under a stack (vm.max_map_count too small?); try CUDA_CPU_WORKERS=1");
    }
    auto* const stack = new Stack;
    stack->bottom = base + i * step + guard;
    stack->size = kStackBytes;
    stack->worker = worker;
#if defined(CUDA_CPU_TSAN)
    stack->fiber = __tsan_create_fiber(0);
#endif
    worker->stacks.push_back(stack);
    make_runner(worker, worker->stacks.size() - 1);
  }
  // Taken from the back: let the first of them be next.
  for (std::size_t i = 0; i < kStacksPerSlab; ++i) {
    worker->free_stacks.push_back(worker->stacks[worker->stacks.size() - 1 - i]);
  }
}

}  // namespace

bool is_stack_guard(const void* address) {
  const char* const byte = static_cast<const char*>(address);
  const std::size_t step = kStackBytes + page_bytes();
  const std::size_t count = stack_slab_count.load();
  for (std::size_t i = 0; i < count && i < kMaxSlabs; ++i) {
    const char* const begin = stack_slabs[i].begin.load();
    if (begin == nullptr || byte < begin || byte >= begin + stack_slabs[i].bytes) continue;
    return static_cast<std::size_t>(byte - begin) % step < page_bytes();
  }
  return false;
}

Stack* Worker::take_stack() {
#if defined(CUDA_CPU_TSAN)
  // Fibers are dear, so they are used again; but what one did for an earlier CUDA thread looks
  // ordered before what it does for a later one. Taken in turn, none serves two blocks that follow
  // each other closely, and the races of those are found.
  while (free_stacks.size() < 3 * grid->threads_per_block) add_stacks(this);
  Stack* const stack = free_stacks.front();
  free_stacks.pop_front();
#else
  // The one that was used last is still in the cache.
  if (free_stacks.empty()) add_stacks(this);
  Stack* const stack = free_stacks.back();
  free_stacks.pop_back();
#endif
  return stack;
}

// ---------------------------------------------------------------------------------------------------------
// Switching
// ---------------------------------------------------------------------------------------------------------

void Worker::switch_to_thread(void** save, Thread* next) {
#if defined(CUDA_CPU_ASAN)
  const Stack* const stack = current_block->stacks[next - current_block->threads];
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack->bottom, stack->size);
#endif
#if defined(CUDA_CPU_TSAN)
  __tsan_switch_to_fiber(current_block->stacks[next - current_block->threads]->fiber, 1);
#endif
  cuda_cpu_switch_context(save, next->context);
#if defined(CUDA_CPU_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

void Worker::switch_to_stack(void** save, Stack* next) {
#if defined(CUDA_CPU_ASAN)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, next->bottom, next->size);
#endif
#if defined(CUDA_CPU_TSAN)
  __tsan_switch_to_fiber(home_fiber, 1);  // a runner is the worker itself
#endif
  cuda_cpu_switch_context(save, next->context);
#if defined(CUDA_CPU_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

void reschedule(Thread* self) {
  Worker* const worker = current_worker;
#if defined(CUDA_CPU_TSAN)
  __tsan_switch_to_fiber(worker->home_fiber, 1);  // what follows is not the CUDA thread's doing
#endif
  Thread* const next = worker->pick();
  if (next == self) {
#if defined(CUDA_CPU_TSAN)
    __tsan_switch_to_fiber(current_block->stacks[self - current_block->threads]->fiber, 1);
#endif
    return;
  }
  if (next != nullptr) {
    worker->switch_to_thread(&self->context, next);
  } else {
    worker->switch_to_stack(&self->context, worker->take_stack());
  }
}

// The thread on this stack has ended and there is none to start on it.
void Worker::park(Stack* mine) {
  free_stacks.push_back(mine);
  Thread* const next = pick();
  if (next != nullptr) {
    switch_to_thread(&mine->context, next);
    return;
  }
  Stack* const runner = take_stack();
  if (runner != mine) switch_to_stack(&mine->context, runner);
}

// No block is left for this worker.
void Worker::go_home(Stack* mine) {
  free_stacks.push_back(mine);
#if defined(CUDA_CPU_ASAN)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, home_bottom, home_size);
#endif
  cuda_cpu_switch_context(&mine->context, home_context);
  // The next grid starts here.
#if defined(CUDA_CPU_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

// ---------------------------------------------------------------------------------------------------------
// Threads of a block
// ---------------------------------------------------------------------------------------------------------

void Worker::run_threads(Stack* mine) {
  for (;;) {
    Block* const block = current_block;
    void (*const body)(void*) = grid->launch->body;
    void* const closure = grid->launch->closure;
    while (block->started < block->count) {
      const std::uint32_t number = block->order[block->started];
      block->position = block->started++;
      Thread* const thread = &block->threads[number];
      thread->wait = Wait::kNothing;
      thread->finished = false;
      current_thread = thread;
      running_thread_index = thread->index;
      if (kSanitized) block->stacks[number] = mine;
#if defined(CUDA_CPU_TSAN)
      __tsan_switch_to_fiber(mine->fiber, 1);
      __tsan_acquire(&grid->serial);  // what the host did before the launch
      mine->last_fence = nullptr;
      mine->places_read = 0;
#endif
      body(closure);
      // The thread may have waited, and all the others may have run; but it is the current one
      // again.
#if defined(CUDA_CPU_TSAN)
      __tsan_release(&grid->blocks);  // what the host sees after it
      __tsan_switch_to_fiber(home_fiber, 1);
#endif
      thread->generation = &kNeverRunnable;
      thread->seen = 0;
      thread->finished = true;
      ++block->finished;
      ++ended;
      if (__builtin_expect(early_exit_counts, 0)) leave_block(block, number);
#if defined(CUDA_CPU_TSAN)
      break;  // the next thread has another fiber, and so it must have another stack
#endif
    }
    if (block->finished < block->count) {
      park(mine);
    } else if (!finish_block()) {
      go_home(mine);
#if defined(CUDA_CPU_TSAN)
    } else {
      park(mine);  // on this fiber the next block would know what the last thread of this one knew
#endif
    }
  }
}

void Worker::shuffle(Block* block) {
  for (std::uint32_t i = block->count; i > 1; --i) {
    const auto j = static_cast<std::uint32_t>(((next_random(&random_state) >> 32) * i) >> 32);
    std::swap(block->order[i - 1], block->order[j]);
  }
}

bool Worker::coin() { return next_random(&random_state) >> 63 != 0; }

// The next thread to look at is the first of the order.
void Worker::new_round(Block* block) {
  if (grid->schedule.kind == Schedule::Kind::kRandom) shuffle(block);
  block->position = ~0u;
  block->warp_turns = 0;
}

Thread* Worker::pick() {
  for (;;) {
    Block* const block = current_block;
    for (std::uint32_t i = block->position + 1; i < block->started; ++i) {
      Thread* const thread = &block->threads[block->order[i]];
      if (!runnable(*thread)) continue;
      block->position = i;
      current_thread = thread;
      running_thread_index = thread->index;
      return thread;
    }
    if (block->started < block->count) return nullptr;
    end_round();
  }
}

void Worker::end_round() {
  Block* const block = current_block;
  if (const int error = grid->error.load(std::memory_order_relaxed)) abandon_grid(error);
  // The watchdog's signal does not reach a worker that sleeps in rotate().
  const Interrupt why = interrupt.load();
  if (why != Interrupt::kNone) escape_from_interrupt(Fault{}, why);
  new_round(block);
  bool any_runnable = false;
  for (std::uint32_t i = 0; i < block->count && !any_runnable; ++i) {
    any_runnable = runnable(block->threads[i]);
  }
  const bool idle = progress() == block->progress_seen;
  block->progress_seen = progress();
  if (any_runnable) {
    block->idle_rounds = idle ? block->idle_rounds + 1 : 0;
    if (block->idle_rounds < kIdleRounds) return;
    // Every thread only yields: it waits for something that another block must do, or for a lane
    // that is held in __activemask.
    block->idle_rounds = 0;
    release_active_mask(block);
    rotate();
    return;
  }
  if (release_active_mask(block)) return;
  bool all_at_grid_barrier = true;
  for (std::uint32_t i = 0; i < block->count && all_at_grid_barrier; ++i) {
    all_at_grid_barrier = !block->threads[i].finished && block->threads[i].wait == Wait::kGrid;
  }
  if (all_at_grid_barrier) {
    rotate();
    return;
  }
  abandon_grid(report_stuck_block(block));
}

// ---------------------------------------------------------------------------------------------------------
// Blocks of a grid
// ---------------------------------------------------------------------------------------------------------

Block* Worker::spare_block() {
  Block* block = nullptr;
  if (!spare.empty()) {
    block = spare.back();
    spare.pop_back();
  } else {
    block = new Block;
    // calloc: pages of threads and warps that no launch uses are never touched.
    void* threads = nullptr;
    if (posix_memalign(&threads, 64, kMaxThreadsPerBlock * sizeof(Thread)) != 0)
      die("out of memory");
    block->threads = static_cast<Thread*>(threads);
    block->order =
        static_cast<std::uint16_t*>(std::calloc(kMaxThreadsPerBlock, sizeof(std::uint16_t)));
    block->warps = static_cast<Warp*>(std::calloc(kMaxThreadsPerBlock / 32, sizeof(Warp)));
    if (kSanitized) {
      block->stacks = static_cast<Stack**>(std::calloc(kMaxThreadsPerBlock, sizeof(Stack*)));
    }
    if (block->order == nullptr || block->warps == nullptr) die("out of memory");
  }
  if (block->grid_serial == grid->serial) return block;
  block->grid_serial = grid->serial;
  const dim3 dim = grid->launch->block;
  block->count = grid->threads_per_block;
  for (std::uint32_t i = 0; i < block->count; ++i) {
    Thread* const thread = new (&block->threads[i]) Thread;
    thread->generation = &kNeverRunnable;
    thread->index = uint3{i % dim.x, i / dim.x % dim.y, i / (dim.x * dim.y)};
    block->order[i] = static_cast<std::uint16_t>(
        grid->schedule.kind == Schedule::Kind::kReverse ? block->count - 1 - i : i);
  }
  // A mask may stand for other lanes now: the last warp of a block can be short.
  for (std::uint32_t i = 0; i < block->count; i += 32) block->warps[i / 32].used = 0;
  block->dynamic_shared_bytes = grid->launch->dynamic_shared_bytes;
  return block;
}

// Gives `block` the next block of the grid to run; false when none is left.
bool Worker::take_block(Block* block) {
  if (grid->next_block.load(std::memory_order_relaxed) >= grid->blocks) return false;
  const std::uint64_t turn = grid->next_block.fetch_add(1, std::memory_order_relaxed);
  if (turn >= grid->blocks) return false;
  std::uint64_t number = turn;
  if (grid->schedule.kind == Schedule::Kind::kReverse) number = grid->blocks - 1 - turn;
  if (grid->schedule.kind == Schedule::Kind::kRandom) {
    number = permuted(turn, grid->blocks, grid->schedule.seed);
  }
  begin_block(block, number);
  return true;
}

void Worker::begin_block(Block* block, std::uint64_t number) {
  const dim3 dim = grid->launch->grid;
  const std::uint64_t rest = number / dim.x;
  block->index = uint3{static_cast<unsigned>(number % dim.x), static_cast<unsigned>(rest % dim.y),
                       static_cast<unsigned>(rest / dim.y)};
  block->started = 0;
  block->position = ~0u;
  block->finished = 0;
  block->arrived = 0;
  block->expected = block->count;
  block->lines_differ = false;
  block->votes = 0;
  block->grid_arrived = 0;
  block->idle_rounds = 0;
  block->warp_turns = 0;
  block->static_shared_bytes = 0;
  ++block->serial;
  if (early_exit_counts) {
    for (std::uint32_t i = 0; i < block->count; ++i) block->threads[i].finished = false;
  }
  if (grid->schedule.kind == Schedule::Kind::kRandom) {
    // Seeded by the block, so that a run is repeated whatever worker gets it.
    random_state = grid->schedule.seed * 0x9e3779b97f4a7c15u + number;
    shuffle(block);
  }
  block->trace = grid->observed ? observer->block_begins(*block, number, grid->blocks) : nullptr;
  begin_shared(block);
}

void Worker::make_current(std::size_t position) {
  live_position = position;
  current_block = live[position];
  running_block_index = current_block->index;
}

// The current block is done. Makes another one current; false when the grid has none for this
// worker.
bool Worker::finish_block() {
  Block* const block = current_block;
  if (const int error = finish_shared(block)) abandon_grid(error);
  if (const int error = grid->error.load(std::memory_order_relaxed)) abandon_grid(error);
  if (block->trace != nullptr) observer->block_ends(*block);
  ++ended;
  if (live.size() == 1 && take_block(block)) {
    make_current(0);
    return true;
  }
  // Others are resident: they go on before a new one starts.
  live.erase(live.begin() + static_cast<std::ptrdiff_t>(live_position));
  spare.push_back(block);
  if (live.empty()) return false;
  make_current(live_position % live.size());
  return true;
}

// The current block waits for other blocks: the next resident one has its turn, then a new one if
// there is room, as on a multiprocessor; at last other workers.
void Worker::rotate() {
  if (live_position + 1 < live.size()) {
    make_current(live_position + 1);
    return;
  }
  const bool room = live.size() < kMaxBlocksPerWorker &&
                    (live.size() + 1) * grid->threads_per_block <= kMaxThreadsPerWorker;
  if (room && grid->next_block.load(std::memory_order_relaxed) < grid->blocks) {
    Block* const block = spare_block();
    if (take_block(block)) {
      live.push_back(block);
      make_current(live.size() - 1);
      return;
    }
    spare.push_back(block);
  }
  make_current(0);
  if (progress() != progress_last_turn) fruitless_turns = 0;
  progress_last_turn = progress();
  if (++fruitless_turns < 64) {
    sched_yield();
  } else {
    const timespec pause{0, 50'000};
    nanosleep(&pause, nullptr);
  }
}

// ---------------------------------------------------------------------------------------------------------
// A worker's part of a grid
// ---------------------------------------------------------------------------------------------------------

void Worker::run(Grid& new_grid) {
  prepare_thread_for_faults();
  grid = &new_grid;
  current_worker = this;
  running_block_dim = grid->launch->block;
  running_grid_dim = grid->launch->grid;
  fruitless_turns = 0;
#if defined(CUDA_CPU_TSAN)
  home_fiber = __tsan_get_current_fiber();
  __tsan_release(&grid->serial);
#endif
  run_blocks();
#if defined(CUDA_CPU_TSAN)
  __tsan_acquire(&grid->blocks);
#endif
  grid = nullptr;
}

void Worker::run_blocks() {
  const TsanBlindfold unseen;
  Block* const first = spare_block();
  if (take_block(first)) {
    live.push_back(first);
    make_current(0);
    watch(this);
    if (sigsetjmp(home_jump, 1) == 0) {
      interruptible.store(true);
      Stack* const runner = take_stack();
#if defined(CUDA_CPU_ASAN)
      __sanitizer_start_switch_fiber(&home_fake_stack, runner->bottom, runner->size);
#endif
      cuda_cpu_switch_context(&home_context, runner->context);
#if defined(CUDA_CPU_ASAN)
      __sanitizer_finish_switch_fiber(home_fake_stack, nullptr, nullptr);
#endif
      current_thread = nullptr;
      interruptible.store(false);
    } else {
      interruptible.store(false);
      clean_up_after_abandoning();
    }
    unwatch(this);
    current_block = nullptr;
  } else {
    spare.push_back(first);
  }
}

// Back from a jump out of the middle of a kernel: says why if nobody has yet, and makes the stacks
// usable again.
void Worker::clean_up_after_abandoning() {
#if defined(CUDA_CPU_ASAN)
  __sanitizer_finish_switch_fiber(home_fake_stack, nullptr, nullptr);
#endif
#if defined(CUDA_CPU_TSAN)
  __tsan_switch_to_fiber(home_fiber, 1);
#endif
  if (exit == Exit::kFault) {
    const Where place = where();
    const Fault reported = fault;
    current_thread = nullptr;  // a fault from here on is the backend's own
    grid->fail(report_kernel_fault(reported, place));
  } else if (exit == Exit::kInterrupt && interrupted_by != Interrupt::kOtherWorkerFailed) {
    grid->fail(report_no_progress(this));
  }
  current_thread = nullptr;
#if defined(CUDA_CPU_TSAN)
  // What the dropped threads did is in the past as well; they get no successors on their fibers.
  for (Stack* const stack : stacks) {
    __tsan_switch_to_fiber(stack->fiber, 1);
    __tsan_release(&grid->blocks);
    __tsan_switch_to_fiber(home_fiber, 1);
    __tsan_destroy_fiber(stack->fiber);
    stack->fiber = __tsan_create_fiber(0);
  }
#endif
  for (Block* const block : live) {
    for (unsigned i = 0; i < kMaxThreadsPerBlock / 32; ++i) {
      Warp* const warp = &block->warps[i];
      for (unsigned j = 0; j < warp->used; ++j) warp->slot[j].arrived = 0;  // the lanes are no more
    }
    spare.push_back(block);
  }
  live.clear();
  free_stacks.clear();
  for (std::size_t i = stacks.size(); i-- > 0;) {
    make_runner(this, i);
    free_stacks.push_back(stacks[i]);
  }
}

namespace {

[[noreturn]] void jump_home(Worker* worker, Worker::Exit why) {
  worker->exit = why;
#if defined(CUDA_CPU_ASAN)
  __sanitizer_start_switch_fiber(nullptr, worker->home_bottom, worker->home_size);
#endif
#if defined(CUDA_CPU_TSAN)
  __tsan_release(&worker->grid->blocks);  // as a thread that ends does
  // TSan looks for the jump's target among those of the fiber that it believes to run.
  __tsan_switch_to_fiber(worker->home_fiber, 1);
#endif
  siglongjmp(worker->home_jump, 1);
}

}  // namespace

void abandon_grid(int cuda_error) {
  Worker* const worker = current_worker;
  if (!in_kernel()) die("abandon_grid outside of a kernel");
  worker->grid->fail(cuda_error != 0 ? cuda_error : kErrorLaunchFailure);
  jump_home(worker, Worker::Exit::kAbandoned);
}

void escape_from_fault(const Fault& fault) {
  current_worker->fault = fault;
  jump_home(current_worker, Worker::Exit::kFault);
}

void escape_from_interrupt(const Fault& fault, Interrupt why) {
  current_worker->fault = fault;
  current_worker->interrupted_by = why;
  jump_home(current_worker, Worker::Exit::kInterrupt);
}

// ---------------------------------------------------------------------------------------------------------
// The grid
// ---------------------------------------------------------------------------------------------------------

namespace {

// The OS threads beside the host's. They sleep between launches.
class Pool {
 public:
  void start(Grid* grid, unsigned helpers) {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (started_ < helpers) {
      std::thread(&Pool::serve, this, started_).detach();
      ++started_;
    }
    grid_ = grid;
    wanted_ = helpers;
    running_ = helpers;
    ++turn_;
    if (helpers > 0) wake_.notify_all();
  }

  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
  }

 private:
  void serve(unsigned number) {
    Worker* const worker = new Worker;
    std::uint64_t turn = 0;
    for (;;) {
      Grid* grid = nullptr;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return turn_ != turn; });
        turn = turn_;
        if (number >= wanted_) continue;
        grid = grid_;
      }
      worker->run(*grid);
      const std::lock_guard<std::mutex> lock(mutex_);
      if (--running_ == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Grid* grid_ = nullptr;
  std::uint64_t turn_ = 0;
  unsigned started_ = 0, wanted_ = 0, running_ = 0;
};

}  // namespace

int run_grid(const GridLaunch& launch) {
  if (in_kernel()) die("a kernel launched a kernel; the CPU backend has no dynamic parallelism");
  // One grid at a time, whichever host thread it comes from. Leaked, for helpers outlive main.
  static std::mutex& one_at_a_time = *new std::mutex;
  static Pool& pool = *new Pool;
  static std::uint32_t serial = 0;
  const std::lock_guard<std::mutex> lock(one_at_a_time);

  // Fibers keep to one OS thread, so each host thread has a worker of its own. Never freed:
  // destructors of the program's static objects may still launch.
  static thread_local Worker* const host_worker = new Worker;

  Grid grid;
  grid.launch = &launch;
  grid.blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  grid.threads_per_block = launch.block.x * launch.block.y * launch.block.z;
  grid.serial = ++serial;
  grid.schedule = schedule();
  // Launches after another differ, or a loop of launches would try one order only.
  if (grid.schedule.kind == Schedule::Kind::kRandom)
    grid.schedule.seed += std::uint64_t{serial} << 32;

  grid.observed = observer != nullptr && observer->grid_begins(launch);

  const std::uint64_t workers = grid.blocks < worker_count() ? grid.blocks : worker_count();
  pool.start(&grid, static_cast<unsigned>(workers) - 1);
  host_worker->run(grid);
  pool.wait();
  if (grid.observed) observer->grid_ends(launch);
  return grid.error.load();
}

bool in_kernel() { return current_thread != nullptr; }

Where where_is(const Block* block, const Thread* thread) {
  const Grid* const grid = current_worker->grid;
  const auto number = static_cast<unsigned>(thread - block->threads);
  return Where{true,
               grid->launch->kernel,
               grid->launch->grid,
               grid->launch->block,
               block->index,
               thread->index,
               number,
               number % 32,
               number / 32};
}

Where where() {
  if (!in_kernel()) return Where{};
  return where_is(current_block, current_thread);
}

void yield() {
  atomics_until_yield = kAtomicsPerTurn;
  Thread* const self = current_thread;
  if (self == nullptr) return;
  self->wait = Wait::kYield;
  self->generation = &kAlwaysRunnable;
  self->seen = 0;
  self->pc = __builtin_return_address(0);
  reschedule(self);
}

}  // namespace cuda_cpu
