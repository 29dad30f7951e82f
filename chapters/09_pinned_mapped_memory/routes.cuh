// SPDX-License-Identifier: MIT
// Chapter 09, the rows: which way the words go, by which clock, and in which sweep. Included by
// pinned_mapped_memory.cu, whose ways they take.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "../../common/common.cuh"

// By events on the default stream: streams made by cudaStreamCreate take turns with it, so that
// their work lies between the events. By the host's clock, because the host has a share in copies:
// from the call until all bytes are there. Or only the call.
enum class Clock { kEvents, kHost, kCall };

struct Route {
  std::string name, summary;
  Run run;
  At where;  // its results are
  Clock clock = Clock::kEvents;
  unsigned passes = 1;               // of the kernel; 0: there is none
  const HostMemory* kind = nullptr;  // of h_x or h_y; nullptr: the problem's own, mapped
  std::size_t n = 0, chunks = 0;     // 0: the problem's
};

std::vector<Route> all_routes() {
  std::vector<Route> all;
  const auto copy = [&](const std::string& name, const std::string& summary, const HostMemory& kind,
                        Run run, At where, Clock clock, std::size_t n = 0) {
    all.push_back(
        {name + "_" + kind.name, summary + ": " + kind.summary, run, where, clock, 0, &kind, n});
  };
  for (const auto& kind : kKinds)
    copy("h2d", "to the device", kind, h2d, At::kDevice, Clock::kHost);
  all.push_back({"h2d_pinned_for_it", "to the device: pinned before, and unpinned after, each time",
                 h2d_pinned_for_it, At::kDevice, Clock::kHost, 0, &kPageable});
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
  all.push_back({"mapped_read", "the kernel reads host memory", mapped_read, At::kDevice});
  all.push_back({"copied_read", "a copy, then the kernel", copied_read, At::kDevice});
  const std::string twice = "half the work per pass, two passes";
  all.push_back({"mapped_read_twice", twice, mapped_read, At::kDevice, Clock::kEvents, 2});
  all.push_back({"copied_read_twice", twice, copied_read, At::kDevice, Clock::kEvents, 2});
  all.push_back({"mapped_write", "the kernel writes host memory", mapped_write, At::kHost});
  all.push_back({"copied_write", "the kernel, then a copy", copied_write, At::kHost});
  all.push_back({"kernel_alone", "all is on the device", kernel_alone, At::kDevice});
  all.push_back({"overlapped", "chunks over streams", overlapped, At::kDevice});
  all.push_back(
      {"overlapped_pageable", "chunks of plain memory", overlapped_pageable, At::kDevice});
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

// Runs the route, checks, times it, and checks again: still right after the timed runs?
Measured measure(const Route& route, Transfer t, std::size_t samples) {
  if (route.n > 0) t.n = std::min(t.n, route.n);
  if (route.chunks > 0) t.chunks = route.chunks;
  t.passes = route.passes;
  const bool to_host = route.where == At::kHost || route.where == At::kUnread;
  unsigned*& host = to_host ? t.h_y : t.h_x;
  if (route.kind != nullptr) host = route.kind->get(t.n);
  if (!to_host) std::memcpy(t.h_x, t.data, t.n * kWord);
  const bool right_at_first = run_and_check(route.name, t, route.run, route.where);
  const auto work = [&] { route.run(t); };
  const Timing time = route.clock == Clock::kEvents ? time_launches(samples, work)
                      : route.clock == Clock::kHost ? time_until_done(samples, work)
                                                    : time_calls(samples, work);
  const bool ok = check(route.name, t, route.where) && right_at_first;
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
    const Measured m = measure(route, t, opt.samples);
    const std::size_t words = route.n > 0 ? std::min(t.n, route.n) : t.n;
    const bool moves = route.clock != Clock::kCall;  // a call only asks for it: that has no rate
    table.add(route.name, m.time, moves ? static_cast<double>(words * kWord) : 0, m.ok);
  }
}
