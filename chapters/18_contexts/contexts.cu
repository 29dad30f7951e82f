// SPDX-License-Identifier: MIT
// Chapter 18: what is a context?
//
// primary, create, first_launch, destroy, destroy_full   a context's life
// retain_release, push_pop, hand_over, hands_free        who uses it, and from which host thread
// stay, take_turns, one_context, two_contexts            the device goes from one to the other
// Run: make run CH=18

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "../../common/common.cuh"
#include "driver.cuh"  // DRIVER_CHECK, create_context

// ---- a context, and what lives in it -----------------------------------------------------------

CUcontext current_context() {
  CUcontext context = nullptr;
  DRIVER_CHECK(cuCtxGetCurrent(&context));
  return context;
}

bool primary_is_active(CUdevice device) {
  unsigned flags = 0;
  int active = 0;
  DRIVER_CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  return active == 1;
}

// While it lives, `context` is this host thread's current one; then again the one below it.
struct Current {
  explicit Current(CUcontext context) { DRIVER_CHECK(cuCtxPushCurrent(context)); }
  ~Current() { cuCtxPopCurrent(nullptr); }
  Current(const Current&) = delete;
};

// Fixed work, one step after the other. A loop that waits for a clock would end on time even if
// another kernel had the device meanwhile.
struct Step {
  unsigned factor, summand;
  __host__ __device__ unsigned operator()(unsigned v) const { return v * factor + summand; }
};
constexpr Step kStep{1664525, 1013904223};

__global__ void advance(unsigned v, unsigned steps, Step step, unsigned* result) {
  for (unsigned k = 0; k < steps; ++k) v = step(v);
  *result = v;
}

constexpr unsigned kStart = 18;

unsigned advanced(unsigned steps) {
  unsigned v = kStart;
  for (unsigned k = 0; k < steps; ++k) v = kStep(v);
  return v;
}

// A word and a stream, in the context that is current when they are made. Nobody gives them back:
// they go with it.
struct Belongings {
  Belongings() {
    DRIVER_CHECK(cuMemAlloc(&address, sizeof(unsigned)));
    DRIVER_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    poison();
  }
  void poison() const {
    const unsigned nothing = 0;
    DRIVER_CHECK(cuMemcpyHtoD(address, &nothing, sizeof nothing));
  }
  // A launch of the runtime, which goes to the current context.
  void launch(unsigned steps) const {
    advance<<<1, 1, 0, stream>>>(kStart, steps, kStep, reinterpret_cast<unsigned*>(address));
    CUDA_CHECK_LAUNCH();
  }
  void wait() const { DRIVER_CHECK(cuStreamSynchronize(stream)); }

  // Whether a kernel of so many steps has run since it was asked the last time.
  bool has_run(const std::string& version, unsigned steps) const {
    unsigned word = 0;
    DRIVER_CHECK(cuMemcpyDtoH(&word, address, sizeof word));
    poison();
    return equals(version, word, advanced(steps));
  }

  CUdeviceptr address = 0;
  CUstream stream = nullptr;
};

// A context of its own for two such. It is on no stack except while they are used.
class Household {
 public:
  explicit Household(CUdevice device) : context_(create_context(device)) {
    DRIVER_CHECK(cuCtxPopCurrent(nullptr));
  }
  ~Household() { cuCtxDestroy(context_); }
  Household(const Household&) = delete;
  CUcontext context() const { return context_; }

 private:
  CUcontext context_;  // is made first, and so is current for what follows

 public:
  const Belongings first, second;
};

// One of its belongings, and how to use it.
struct Used {
  const Household& home;
  const Belongings& it;
  template <class Use>
  auto operator()(Use use) const {
    const Current here(home.context());
    return use(it);
  }
  void launch(unsigned steps) const {
    (*this)([=](const Belongings& b) { b.launch(steps); });
  }
  void wait() const {
    (*this)([](const Belongings& b) { b.wait(); });
  }
  bool has_run(const char* version, unsigned steps) const {
    return (*this)([=](const Belongings& b) { return b.has_run(version, steps); });
  }
};

// ---- rows --------------------------------------------------------------------------------------

struct Program {
  ResultTable& table;
  CUdevice device;
  unsigned steps;      // of a long kernel
  std::size_t arrays;  // that destroy_full leaves to its context
  std::size_t samples() const { return table.opt.samples; }
};

double free_mib() {
  std::size_t free_bytes = 0, all_bytes = 0;
  DRIVER_CHECK(cuMemGetInfo(&free_bytes, &all_bytes));
  return static_cast<double>(free_bytes) / 1_Mi;
}

// Work that cannot be done twice in a row: each time something comes before it, and something after
// it says whether all is right. Neither is timed.
struct Once {
  const char *name, *summary;
  std::function<void()> before, work;
  std::function<bool(double mib_taken)> after;
  bool memory_is_asked = true;  // needs a context before the work and after it
};

void add_once(const Program& p, const Once& row) {
  if (!p.table.wants(row.name, row.summary)) return;
  std::vector<double> ms, mib;
  bool ok = true;
  for (std::size_t sample = 0; sample <= p.table.opt.samples; ++sample) {
    row.before();
    const double free_before = row.memory_is_asked ? free_mib() : 0;
    const double begin = host_ms();
    row.work();
    const double took = host_ms() - begin;
    if (row.memory_is_asked) mib.push_back(free_before - free_mib());
    ok = row.after(mib.empty() ? 0 : mib.back()) && ok;
    if (sample > 0) ms.push_back(took);  // the first one warms up
  }
  p.table.next_row_has(mib.empty() ? std::string("-") : text(median_of(mib)));
  p.table.row(row.name, timing_of(ms), 0, ok);
}

// Work that leaves everything as it was.
template <class Work, class IsRight>
void add_repeated(const Program& p, const char* name, const char* summary, Work work,
                  IsRight is_right) {
  if (!p.table.wants(name, summary)) return;
  work();
  const bool right_at_first = is_right();
  const Timing time = time_on_host(p.table.opt.samples, work);
  const bool right_at_last = is_right();
  p.table.next_row_has("-");
  p.table.row(name, time, 0, right_at_first && right_at_last);
}

// ---- a context's life --------------------------------------------------------------------------

void add_life(const Program& p) {
  CUcontext mine = current_context(), made = nullptr;
  std::optional<Belongings> its;
  const auto make = [&] { made = create_context(p.device); };
  const auto furnish = [&] { make(), its.emplace(); };
  const auto launch = [&] { its->launch(1), its->wait(); };
  const auto leave = [&] { DRIVER_CHECK(cuCtxPopCurrent(nullptr)); };
  const auto end = [&] { DRIVER_CHECK(cuCtxDestroy(made)); };
  const auto mine_is_current = [&] { return current_context() == mine; };

  // The primary context goes with all that it owns, and the runtime makes it anew.
  bool was_active = true;
  const auto reset = [&] {
    CUDA_CHECK(cudaDeviceReset());
    was_active = primary_is_active(p.device);
  };
  const auto make_primary = [&] {
    CUDA_CHECK(cudaSetDevice(p.device));  // from CUDA 12 on this one does it
    CUDA_CHECK(cudaFree(nullptr));
    mine = current_context();
  };
  add_once(p, {"primary", "the runtime's own, when there is no other", reset, make_primary,
               [&](double) { return !was_active && primary_is_active(p.device); }, false});

  add_once(p, {"create", "one more: cuCtxCreate", [] {}, make,
               [&](double) {
                 const bool is_another = made != mine && current_context() == made;
                 return end(), is_another && mine_is_current();
               }});
  add_once(p, {"first_launch", "the first kernel in it", furnish, launch, [&](double) {
                 const bool has_run = its->has_run("first_launch", 1);
                 return end(), has_run && mine_is_current();
               }});
  add_once(p, {"destroy", "cuCtxDestroy, of one in which a kernel has run",
               [&] { furnish(), launch(), leave(); }, end,
               [&](double taken) { return taken < 0 && mine_is_current(); }});
  const auto fill = [&] {
    furnish(), launch();
    for (std::size_t k = 0; k < p.arrays; ++k) {
      CUdeviceptr nobody_frees_it = 0;
      DRIVER_CHECK(cuMemAlloc(&nobody_frees_it, 1_Mi));
    }
    leave();
  };
  add_once(p, {"destroy_full", "the same, and it still owns arrays of 1 MiB", fill, end,
               [&](double taken) {
                 return taken <= -static_cast<double>(p.arrays) && mine_is_current();
               }});
}

// ---- who uses it, and from where ---------------------------------------------------------------

// A host thread that waits to be called, takes the context if there is one, and lets it go again.
class OtherThread {
 public:
  explicit OtherThread(CUcontext context) : context_(context), thread_([this] { serve(); }) {}
  ~OtherThread() {
    turn_ = kNobody;
    thread_.join();
  }
  void call() {
    turn_ = kOther;
    while (turn_ == kOther) std::this_thread::yield();
  }
  bool was_right() const { return right_; }
  std::size_t times_called() const { return calls_; }

 private:
  enum Turn { kMain, kOther, kNobody };

  void serve() {
    for (;;) {
      while (turn_ == kMain) std::this_thread::yield();
      if (turn_ == kNobody) return;
      if (context_ != nullptr) {
        right_ = right_ && current_context() == nullptr;
        const Current here(context_);
        right_ = right_ && current_context() == context_;
      }
      ++calls_;
      turn_ = kMain;
    }
  }

  const CUcontext context_;
  std::atomic<Turn> turn_{kMain};
  std::atomic<bool> right_{true};
  std::atomic<std::size_t> calls_{0};
  std::thread thread_;
};

void add_users(const Program& p) {
  const Household other(p.device);
  const CUcontext mine = current_context();
  const auto mine_is_current = [&] { return current_context() == mine; };

  add_repeated(
      p, "retain_release", "one user more of the primary context, and one less",
      [&] {
        CUcontext primary = nullptr;
        DRIVER_CHECK(cuDevicePrimaryCtxRetain(&primary, p.device));
        DRIVER_CHECK(cuDevicePrimaryCtxRelease(p.device));
      },
      [&] { return mine_is_current() && primary_is_active(p.device); });
  add_repeated(
      p, "push_pop", "another context becomes current, and is no longer",
      [&] { const Current here(other.context()); }, mine_is_current);

  OtherThread taker(other.context()), idler(nullptr);
  add_repeated(
      p, "hand_over", "another host thread takes it, and lets it go",
      [&] {
        { const Current here(other.context()); }
        taker.call();
      },
      [&] { return mine_is_current() && taker.was_right(); });
  add_repeated(
      p, "hands_free", "another such thread, and no context", [&] { idler.call(); },
      mine_is_current);
}

// ---- the device goes from one to the other -----------------------------------------------------

// Two kernels of `steps` steps each. `work` launches them and waits.
void add_pair(const Program& p, const char* name, const char* summary, unsigned steps, Used a,
              Used b, const std::function<void()>& work) {
  add_repeated(p, name, summary, work, [&] {
    const bool a_has_run = a.has_run(name, steps);
    return b.has_run(name, steps) && a_has_run;
  });
}

void add_pairs(const Program& p) {
  const Household one(p.device), other(p.device);
  const Used first{one, one.first}, second{one, one.second}, elsewhere{other, other.first};

  const auto in_turn = [](Used a, Used b) {
    return [=] {
      for (const Used& it : {a, b}) it.launch(1), it.wait();
    };
  };
  add_pair(p, "stay", "a short kernel, waited for, and a second one", 1, first, second,
           in_turn(first, second));
  add_pair(p, "take_turns", "the same two, each in a context of its own", 1, first, elsewhere,
           in_turn(first, elsewhere));

  const auto together = [&](Used a, Used b) {
    return [=] {
      for (const Used& it : {a, b}) it.launch(p.steps);
      for (const Used& it : {a, b}) it.wait();
    };
  };
  const auto alone = [&] { first.launch(p.steps), first.wait(); };
  add_repeated(p, "one_kernel", "a long kernel of one thread", alone,
               [&] { return first.has_run("one_kernel", p.steps); });
  add_pair(p, "one_context", "two of them, in two streams of one context", p.steps, first, second,
           together(first, second));
  add_pair(p, "two_contexts", "the same two, each in a context of its own", p.steps, first,
           elsewhere, together(first, elsewhere));
}

int main(int argc, char** argv) {
  std::size_t steps = kOnGpu ? 4_Mi : 5000, arrays = 64;
  const Options opt(argc, argv, "18_contexts", "what is a context?",
                    {{"steps", &steps, 1, 256_Mi, "of a long kernel"},
                     {"arrays", &arrays, 0, 4096, "of 1 MiB, left to a context that ends"}});
  ResultTable table(opt, arrays * 1_Mi, 0, {"taken_mib"});
  table.without_speedup();
  const Program program{table, device_of(opt), static_cast<unsigned>(steps), arrays};
  add_life(program);
  add_users(program);
  add_pairs(program);
  return table.finish();
}
