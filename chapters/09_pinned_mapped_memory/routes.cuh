// SPDX-License-Identifier: MIT
// Chapter 09, the rows: which way the words go, by which clock, and in which sweep. Included by
// pinned_mapped_memory.cu, whose ways they take.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../../common/common.cuh"

// By events on the default stream: streams made by cudaStreamCreate take turns with it, so that
// their work lies between the events. By the host's clock, from the call until all is done: where
// the host has a share in the work, or a stream does not wait for the default stream. Or only the
// call.
enum class Clock { kEvents, kHost, kCall };

using Prepare = void (*)(const Transfer&);
using AlsoRight = bool (*)(const std::string& name, const Transfer&);

struct Route {
  std::string name, summary;
  Run run;
  At where;  // its results are
  Clock clock = Clock::kEvents;
  unsigned passes = 1;               // of the kernel; 0: there is none
  const HostMemory* kind = nullptr;  // of h_x or h_y; nullptr: the problem's own, mapped
  std::size_t n = 0, chunks = 0;     // 0: the problem's
  unsigned rounds = 0;               // 0: the problem's
  Prepare prepare = nullptr;         // before every run, while the clock stands
  AlsoRight also_right = nullptr;    // what must hold besides

  Route& with_rounds(unsigned count) { return rounds = count, *this; }
  Route& after(Prepare before) { return prepare = before, *this; }
  Route& and_check(AlsoRight check) { return also_right = check, *this; }
};

std::vector<Route> all_routes() {
  std::vector<Route> all;
  const auto add = [&](const std::string& name, const std::string& summary, Run run, At where,
                       Clock clock, unsigned passes = 1, const HostMemory* kind = nullptr,
                       std::size_t n = 0) -> Route& {
    const char* const by[] = {"", " [host's clock]", " [host's clock]"};
    all.push_back(
        {name, summary + by[static_cast<int>(clock)], run, where, clock, passes, kind, n});
    return all.back();
  };
  const auto copy = [&](const std::string& name, const std::string& summary, const HostMemory& kind,
                        Run run, At where, Clock clock, std::size_t n = 0) -> Route& {
    return add(name + "_" + kind.name, summary + ": " + kind.summary, run, where, clock, 0, &kind,
               n);
  };
  for (const auto& kind : kKinds)
    copy("h2d", "to the device", kind, h2d, At::kDevice, Clock::kHost);
  add("h2d_pinned_for_it", "to the device: pinned before, and unpinned after, each time",
      h2d_pinned_for_it, At::kDevice, Clock::kHost, 0, &kPageable);
  for (const auto& kind : kKinds) {
    const At where = &kind == &kWriteCombined ? At::kUnread : At::kHost;
    copy("d2h", "to the host", kind, d2h, where, Clock::kHost);
  }
  for (const auto* kind : {&kPageable, &kPinned}) {
    copy("call_h2d", "only the call", *kind, h2d, At::kDevice, Clock::kCall);
  }
  for (const auto* kind : {&kPinned, &kWriteCombined}) {  // 4 MiB are enough of what is slow
    copy("host_read", "the host reads", *kind, host_read, At::kSeen, Clock::kHost, 1_Mi);
  }
  add("host_works_alone", "work of the host's own", host_work, At::kElsewhere, Clock::kHost)
      .and_check(host_work_is_right);
  copy("host_works_then_h2d", "the host's work, then a copy", kPinned, host_then_copy, At::kDevice,
       Clock::kHost)
      .and_check(host_work_is_right);
  for (const auto* kind : {&kPageable, &kPinned}) {
    copy("host_works_during_h2d", "the host's work after the call of a copy", *kind,
         host_during_copy, At::kDevice, Clock::kHost)
        .and_check(host_work_is_right);
  }
  const Clock events = Clock::kEvents;
  add("mapped_read", "the kernel reads host memory", mapped_read, At::kDevice, events);
  add("copied_read", "a copy, then the kernel", copied_read, At::kDevice, events);
  const std::string twice = "half the work per pass, two passes";
  add("mapped_read_twice", twice, mapped_read, At::kDevice, events, 2);
  add("copied_read_twice", twice, copied_read, At::kDevice, events, 2);
  const auto with_other = [&](const std::string& name, const std::string& summary, Run run,
                              AlsoRight right) {
    add(name, "every word read by two threads: " + summary, run, At::kElsewhere, events)
        .and_check(right);
  };
  with_other("mapped_read_near", "by neighbours", mapped_read_near, near_is_right);
  with_other("mapped_read_far", "half of all words apart", mapped_read_far, far_is_right);
  with_other("device_read_far", "the same, all on the device", device_read_far, far_is_right);
  add("mapped_write", "the kernel writes host memory", mapped_write, At::kHost, events);
  add("copied_write", "the kernel, then a copy", copied_write, At::kHost, events);
  add("kernel_alone", "all is on the device", kernel_alone, At::kDevice, events);
  add("overlapped", "chunks over streams", overlapped, At::kDevice, events);
  add("overlapped_pageable", "chunks of plain memory", overlapped_pageable, At::kDevice, events);
  const auto managed = [&](const std::string& name, const std::string& summary, Run run,
                           At where) -> Route& {
    return add(name, "managed memory, " + summary, run, where, Clock::kHost, 1, &kManaged,
               kManagedWords);
  };
  managed("managed_read", "from the host: pages come when they are touched", managed_read,
          At::kDevice)
      .after(host_writes);
  managed("managed_prefetched", "from the host: pages are asked for, then the kernel",
          managed_prefetched, At::kDevice)
      .after(host_writes);
  managed("managed_read_again", "on the device since the run before", managed_read, At::kDevice);
  managed("managed_host_write", "the host writes what is on the device", host_writes,
          At::kElsewhere)
      .after(fill_on_device)
      .and_check(host_words_are_right);
  managed("managed_host_write_again", "the host writes what is with the host", host_writes,
          At::kElsewhere)
      .and_check(host_words_are_right);
  const auto thirds = [&](const std::string& name, const std::string& summary, Run run) {
    add(name, "three small kernels, " + summary, run, At::kDevice, Clock::kHost, 1, nullptr,
        kThirdsWords)
        .with_rounds(kThirdsRounds);
  };
  thirds("default_three_times", "all in the default stream", default_three_times);
  thirds("default_between", "the middle one in the default stream", default_between);
  thirds("default_beside", "the same, the others in non-blocking streams", default_beside);
  thirds("per_thread_beside", "the middle one in the thread's own default stream",
         per_thread_beside);
  const auto scratch = [&](const std::string& name, const std::string& summary, Run run) -> Route& {
    return add(name, "scratch memory, " + summary, run, At::kDevice, Clock::kHost, 1, nullptr,
               kScratchWords)
        .with_rounds(1);
  };
  scratch("scratch_kept", "got once", scratch_kept);
  scratch("scratch_malloc", "by cudaMalloc and cudaFree each time", scratch_malloc);
  scratch("scratch_async", "by cudaMallocAsync and cudaFreeAsync each time", scratch_async)
      .after(pool_keeps_nothing);
  scratch("scratch_async_kept", "the same, and the pool keeps what it has", scratch_async)
      .after(pool_keeps_all);
  return all;
}

// Sweep "size": copies of 1 KiB and more, up to all of the data. "passes": the same work in ever
// more passes over x. "chunks": the same data in ever more chunks.
std::vector<Route> routes_of_sweep(const std::string& sweep, std::size_t n) {
  std::vector<Route> routes;
  for (Route r : all_routes()) {
    const std::string name = r.name + " " + sweep + "=";
    const auto add = [&](const std::string& value) {
      r.name = name + value;
      routes.push_back(r);
    };
    const bool is_copy = r.clock == Clock::kHost && (r.run == h2d || r.run == d2h);
    if (sweep == "size" && is_copy && (r.kind == &kPageable || r.kind == &kPinned)) {
      for (r.n = std::min(n, 1_Ki / kWord); r.n < n; r.n *= 2) add(bytes_text(r.n * kWord));
      r.n = n;
      add(bytes_text(n * kWord));
    }
    if (sweep == "passes" && r.passes == 1 && (r.run == mapped_read || r.run == copied_read)) {
      for (r.passes = 1; r.passes <= 8; ++r.passes) add(std::to_string(r.passes));
    }
    if (sweep == "chunks" && r.run == overlapped) {
      for (r.chunks = 1; r.chunks <= 256; r.chunks *= 2) add(std::to_string(r.chunks));
    }
  }
  return routes;
}

// Times one run at a time, each after an untimed `prepare`: until all is done, or only the call.
template <class Prepared, class Work>
Timing time_prepared(std::size_t samples, Prepared&& prepare, Work&& work, bool until_done = true) {
  std::vector<double> ms;
  for (std::size_t i = 0; i <= samples; ++i) {  // the first one warms up
    prepare();
    CUDA_CHECK(cudaDeviceSynchronize());
    const Timing once = time_once([&] {
      work();
      if (until_done) CUDA_CHECK(cudaDeviceSynchronize());
    });
    CUDA_CHECK(cudaDeviceSynchronize());
    if (i > 0) ms.push_back(once.median_ms);
  }
  return timing_of(ms);
}

Timing time_route(const Route& route, const Transfer& t, Samples samples) {
  const auto work = [&] { route.run(t); };
  if (route.clock == Clock::kEvents) return time_launches(samples, work);
  const bool until_done = route.clock == Clock::kHost;
  if (route.prepare == nullptr && !samples.cold) {
    return until_done ? time_until_done(samples.count, work) : time_calls(samples.count, work);
  }
  const std::unique_ptr<L2Flush> flush(samples.cold ? new L2Flush : nullptr);
  const auto prepare = [&] {
    if (route.prepare != nullptr) route.prepare(t);
    if (flush != nullptr) (*flush)();
  };
  return time_prepared(samples.count, prepare, work, until_done);
}

// Runs the route, checks, times it, and checks again: still right after the timed runs?
Measured measure(const Route& route, Transfer t, Samples samples) {
  if (route.n > 0) t.n = std::min(t.n, route.n);
  if (route.chunks > 0) t.chunks = route.chunks;
  if (route.rounds > 0) t.rounds = route.rounds;
  t.passes = route.passes;
  const bool to_host = route.where == At::kHost || route.where == At::kUnread;
  unsigned*& host = to_host ? t.h_y : t.h_x;
  if (route.kind != nullptr) host = route.kind->get(t.n);
  if (!to_host) std::memcpy(t.h_x, t.data, t.n * kWord);
  const auto is_right = [&](bool ok) {
    return (route.also_right == nullptr || route.also_right(route.name, t)) && ok;
  };
  if (route.prepare != nullptr) route.prepare(t);
  const bool right_at_first = is_right(run_and_check(route.name, t, route.run, route.where));
  const Timing time = time_route(route, t, samples);
  const bool ok = is_right(check(route.name, t, route.where)) && right_at_first;
  if (route.kind != nullptr) route.kind->give_back(host);
  return {time, ok};
}

// The rows of the routes that the command line asks for.
void add_rows(ResultTable& table, const std::vector<Route>& routes, const Transfer& t) {
  const Options& opt = table.options();
  const auto bytes = static_cast<double>(t.n * kWord);
  const double pinned_ms = time_until_done(opt.samples, [&] { h2d(t); }).median_ms;
  if (kOnGpu) table.rate_in_gbps("pinned", bytes / pinned_ms / 1e6);
  table.without_speedup();  // the rows do not all do the same
  for (const Route& route : routes) {
    if (!opt.wants(route.name)) continue;  // a sweep has no --only: all of its rows
    const Measured m = measure(route, t, opt.sampling());
    const std::size_t words = route.n > 0 ? std::min(t.n, route.n) : t.n;
    // No rate: a call only asks for the words; other rows take as long whatever they move.
    const bool moves = route.clock != Clock::kCall && route.rounds == 0 && route.run != host_work;
    table.add(route.name, m.time, moves ? static_cast<double>(words * kWord) : 0, m.ok);
  }
}
