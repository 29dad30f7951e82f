// SPDX-License-Identifier: MIT
#include "watchdog.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "../../report/diagnostics.h"
#include "../../report/machine_context.h"
#include "../../report/program_image.h"
#include "../../types/error_codes.h"
#include "../../types/the_only.h"
#include "../state/current.h"
#include "../state/leaving.h"
#include "../state/observer.h"
#include "../state/settings.h"
#include "../state/worker.h"

namespace cuda_cpu {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSignal = SIGUSR2;
// An endless loop around a barrier makes progress, barrier by barrier. So does a long loop, so this
// takes more patience.
constexpr double kBarrierPatience = 4;
constexpr auto kTick = std::chrono::milliseconds(20);
// What one tick can count as, however long it took: whoever stops the process (Ctrl-Z, a debugger)
// stops the kernel as well.
constexpr auto kLongestTick = 5 * kTick;
// A worker inside a library (printf, malloc) is not interrupted, since it may hold a lock. Then try
// again.
constexpr auto kRetry = std::chrono::milliseconds(1);
// After that long the process has to end without the worker's help.
constexpr auto kPatience = std::chrono::seconds(5);

// What all threads of this process have used.
Clock::duration processor_time() {
  const std::chrono::duration<double> seconds{static_cast<double>(std::clock()) / CLOCKS_PER_SEC};
  return std::chrono::duration_cast<Clock::duration>(seconds);
}

void on_interrupt(int, siginfo_t*, void* context) {
  Worker* const worker = current_worker;
  if (worker == nullptr || !in_kernel() || !worker->interruptible.load()) return;
  const Exit why = worker->interrupt.load();
  void* const pc = registers_of(context).pc;
  if (why == Exit::kNone || !is_in_program_text(pc)) return;
  worker->interrupt.store(Exit::kNone);
  leave_kernel(why, {kSignal, nullptr, pc, false, false});
}

class Watchdog {
 public:
  Watchdog() {
    struct sigaction action {};
    action.sa_sigaction = on_interrupt;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(kSignal, &action, nullptr);
    std::thread(&Watchdog::watch, this).detach();
  }

  void add(Worker* worker) {
    const std::lock_guard<std::mutex> lock(mutex_);
    workers_.push_back(worker);
    wake_.notify_one();
  }

  void remove(Worker* worker) {
    const std::lock_guard<std::mutex> lock(mutex_);
    worker->interrupt.store(Exit::kNone);
    workers_.erase(std::find(workers_.begin(), workers_.end(), worker));
  }

 private:
  // Whether the workers have done more of something than at the last call. They count without
  // locks; a value that is a little old will do.
  bool changed(std::uint64_t Worker::*count, std::uint64_t* seen) const {
    std::uint64_t sum = workers_.size();
    for (const Worker* const worker : workers_) {
      sum += __atomic_load_n(&(worker->*count), __ATOMIC_RELAXED);
    }
    return sum != std::exchange(*seen, sum);
  }

  // Workers that only wait for others are not to blame, unless all do.
  void interrupt_workers(Exit why) {
    const bool all_do = all_wait();
    for (Worker* const worker : workers_) {
      if (why != Exit::kFailed && !all_do && waits_for_others(worker)) continue;
      worker->interrupt.store(why);
      pthread_kill(worker->os_thread, kSignal);
    }
  }

  static bool waits_for_others(const Worker* worker) {
    return __atomic_load_n(&worker->fruitless_turns, __ATOMIC_RELAXED) > 0;
  }

  bool all_wait() const { return std::all_of(workers_.begin(), workers_.end(), waits_for_others); }

  // False when all are at work for others than the kernel, which may take a while: they write
  // reports, or X-ray puts together what a block has done.
  bool any_interruptible() const {
    return std::any_of(workers_.begin(), workers_.end(),
                       [](const Worker* worker) { return worker->interruptible.load(); });
  }

  bool failed() const {
    return std::any_of(workers_.begin(), workers_.end(),
                       [](const Worker* worker) { return worker->grid->error.load() != 0; });
  }

  [[noreturn]] void watch() {
    const auto timeout = std::chrono::duration<double>(timeout_seconds());
    std::unique_lock<std::mutex> lock(mutex_);
    const auto barrier_timeout = std::chrono::duration<double>(barrier_timeout_seconds());
    std::uint64_t ended = 0, barriers = 0;
    // Time in which this thread and workers got their turns. On a busy machine one that has no core
    // makes no progress, either: unless all wait, processor time counts. To open barriers takes
    // some, so there it always does.
    Clock::duration now{}, since{}, failed_since{}, interrupting_since{};
    Clock::duration worked{}, last_end{};
    bool interrupting = false;
    for (;;) {
      if (workers_.empty()) {
        wake_.wait(lock, [this] { return !workers_.empty(); });
        since = now;
        last_end = worked;
        interrupting = false;
      }
      // A plain sleep, since nobody wakes it here. A wait with a timeout is a call that the race
      // checker of g++ 11 does not know: it took the mutex for locked all the while.
      lock.unlock();
      const Clock::time_point asleep_since = Clock::now();
      const Clock::duration used_before = processor_time();
      std::this_thread::sleep_for(interrupting ? kRetry : kTick);
      const Clock::duration took =
          std::min<Clock::duration>(Clock::now() - asleep_since, kLongestTick);
      const Clock::duration used = std::min(took, processor_time() - used_before);
      lock.lock();
      now += all_wait() ? took : used;
      worked += used;
      if (observer != nullptr && !workers_.empty()) {
        observer->time_passes(std::chrono::duration<double>(now).count());
      }
      if (changed(&Worker::ended, &ended) || !any_interruptible()) {
        since = now;
        last_end = worked;
      }
      if (changed(&Worker::barriers, &barriers)) since = now;
      const bool other_failed = failed();
      if (!other_failed) failed_since = now;
      // A worker normally notices by itself that another has failed, at its block's end at the
      // latest.
      const bool limited = timeout.count() > 0;
      Exit why = Exit::kNone;
      if (other_failed) {
        if (now - failed_since > 5 * kTick) why = Exit::kFailed;
      } else if (limited && now - since > timeout) {
        why = Exit::kTimeout;
      } else if (limited && worked - last_end > barrier_timeout) {
        why = Exit::kOnlyBarriers;
      }
      if (why == Exit::kNone) {
        interrupting = false;
        continue;
      }
      if (!interrupting || !any_interruptible()) interrupting_since = now;
      interrupting = true;
      interrupt_workers(why);
      if (now - interrupting_since > kPatience) give_up();
    }
  }

  [[noreturn]] void give_up() {
    const LaunchedKernel kernel = workers_.front()->grid->launch->kernel;
    report(
        report_here(format("no progress for %g s in kernel '%s', which does not react to signals",
                           timeout_seconds(), kernel.name),
                    {kernel.file, kernel.line}, cudaErrorLaunchTimeout));
    _exit(1);
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Worker*> workers_;
};

}  // namespace

double barrier_timeout_seconds() { return kBarrierPatience * timeout_seconds(); }

void watch(Worker* worker) { the_only<Watchdog>().add(worker); }

void unwatch(Worker* worker) { the_only<Watchdog>().remove(worker); }

}  // namespace cuda_cpu
