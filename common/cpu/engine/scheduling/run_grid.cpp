// SPDX-License-Identifier: MIT
#include "run_grid.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"
#include "../diagnosis/faults.h"
#include "../diagnosis/stuck.h"
#include "../diagnosis/watchdog.h"
#include "../memory/stacks.h"
#include "../state/block.h"
#include "../state/current.h"
#include "../state/device_limits.h"
#include "../state/leaving.h"
#include "../state/observer.h"
#include "../state/printing.h"
#include "../state/sanitizers.h"
#include "../state/worker.h"
#include "context.h"
#include "resident_blocks.h"
#include "runners.h"
#include "scheduler.h"
#include "yielding.h"

namespace cuda_cpu {

namespace {

// Called after a jump out of the middle of a kernel: says why if nobody has yet, and makes the
// stacks usable again.
void clean_up_after_abandoning(Worker* worker) {
  asan_arrive(worker->home_fake_stack);
  if (worker->exit == Exit::kFault) {
    const Where place = where();
    current_thread = nullptr;  // a fault from here on is the backend's own
    worker->grid->fail(report_kernel_fault(worker->fault, place));
  } else if (worker->exit != Exit::kFailed) {
    leave_step(current_block);
    worker->grid->fail(report_no_progress(worker));
  }
  current_thread = nullptr;
  for (Block* const block : worker->live) {
    for (unsigned i = 0; i < kMaxThreadsPerBlock / kWarpSize; ++i) {
      Warp* const warp = &block->warps[i];
      for (unsigned j = 0; j < warp->used; ++j) warp->slot[j].arrived = 0;  // their lanes are gone
    }
    put_into_rows(block);
    worker->spare.push_back(block);
  }
  worker->live.clear();
  renew_stacks(worker);
}

void run_resident_blocks(Worker* worker) {
  if (!add_block(worker)) return;
  watch(worker);
  if (sigsetjmp(worker->home_jump, 1) == 0) {
    worker->interruptible.store(true);
    Stack* const runner = take_stack(worker);
    asan_leave(&worker->home_fake_stack, runner->bottom, kStackBytes);
    cuda_cpu_switch_context(&worker->home_context, runner->context);
    asan_arrive(worker->home_fake_stack);
    current_thread = nullptr;
    worker->interruptible.store(false);
  } else {
    worker->interruptible.store(false);
    clean_up_after_abandoning(worker);
  }
  unwatch(worker);
  current_block = nullptr;
}

void run_blocks_of(Grid* grid, Worker* worker) {
  prepare_thread_for_faults();
  worker->grid = grid;
  current_worker = worker;
  running_block_dim = grid->launch->block;
  running_grid_dim = grid->launch->grid;
  worker->fruitless_turns = 0;
  worker->run_threads = run_threads;
  begin_turns();
  run_resident_blocks(worker);
  worker->grid = nullptr;
}

// The OS threads besides the host's. They sleep between launches.
class Pool {
 public:
  // With so many of them besides the calling OS thread. Fibers stay on one OS thread, so each host
  // thread has its own worker. It is never freed: destructors of the program's static objects may
  // still launch.
  void run(Grid* grid, unsigned helpers) {
    static thread_local Worker* const host_worker = new Worker;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      while (started_ < helpers) std::thread(&Pool::serve, this, started_++).detach();
      grid_ = grid;
      wanted_ = running_ = helpers;
      ++turn_;
      if (helpers > 0) wake_.notify_all();
    }
    run_blocks_of(grid, host_worker);
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
      run_blocks_of(grid, worker);
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
  // One grid at a time, whichever host thread it comes from. It is leaked, since helpers outlive
  // main.
  static std::mutex& one_at_a_time = *new std::mutex;
  static Pool& pool = *new Pool;
  static std::uint32_t serial = 0;
  const std::lock_guard<std::mutex> lock(one_at_a_time);

  if (races_are_wanted() && observer == nullptr) {
    die("CUDA_CPU_RACES=1: this program is not built to look for races; make races does that");
  }

  Grid grid;
  grid.launch = &launch;
  grid.blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  grid.threads_per_block = launch.block.x * launch.block.y * launch.block.z;
  grid.serial = ++serial;
  grid.schedule = schedule();
  // Successive launches differ; otherwise a loop of launches would try only one order.
  if (grid.schedule.kind == Schedule::Kind::kRandom)
    grid.schedule.seed += std::uint64_t{serial} << 32;

  grid.observed = observer != nullptr && observer->grid_begins(launch);

  const unsigned most = grid.observed ? worker_count() : worker_count_unobserved();
  const std::uint64_t workers = std::min<std::uint64_t>(grid.blocks, most);
  pool.run(&grid, static_cast<unsigned>(workers) - 1);
  write_printed();
  if (observer != nullptr) observer->grid_ends(launch);
  return grid.error.load();
}

}  // namespace cuda_cpu
