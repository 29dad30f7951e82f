// SPDX-License-Identifier: MIT
#include "worker_pool.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "../report/diagnostics.h"
#include "current.h"
#include "observer.h"
#include "settings.h"
#include "worker.h"

namespace cuda_cpu {

namespace {

// The OS threads besides the host's. They sleep between launches.
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

  // Fibers stay on one OS thread, so each host thread has its own worker. It is never freed:
  // destructors of the program's static objects may still launch.
  static thread_local Worker* const host_worker = new Worker;

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
  pool.start(&grid, static_cast<unsigned>(workers) - 1);
  run_blocks_of(&grid, host_worker);
  pool.wait();
  if (observer != nullptr && observer->grid_ends != nullptr) observer->grid_ends(launch);
  return grid.error.load();
}

}  // namespace cuda_cpu
