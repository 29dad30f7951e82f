// SPDX-License-Identifier: MIT
#include "stuck.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../../report/diagnostics.h"
#include "../../report/source_lines.h"
#include "../../types/error_codes.h"
#include "../state/block.h"
#include "../state/leaving.h"
#include "../state/phase_barrier.h"
#include "../state/warp_operation.h"
#include "watchdog.h"

namespace cuda_cpu {

namespace {

// Threads of a block that did the same thing at the same line.
struct Group {
  std::string doing;  // "waiting here in __syncthreads"
  Site site;
  std::uint8_t which;  // of several barriers on one line
  std::vector<unsigned> threads;
};

const WarpSlot* slot_of(const Block* block, unsigned thread) {
  const Warp& warp = block->warps[thread / 32];
  for (unsigned i = 0; i < warp.used; ++i) {
    if ((warp.slot[i].arrived >> (thread % 32) & 1) != 0) return &warp.slot[i];
  }
  return nullptr;
}

// Empty for a thread that could run.
std::string what_it_does(const Block* block, unsigned number) {
  const Thread& thread = block->threads[number];
  if (thread.finished) return "left the kernel here";
  if (waits(thread, Wait::kBarrier)) return "waiting here in __syncthreads";
  if (waits(thread, Wait::kGrid)) return "waiting here in the grid barrier";
  if (waits(thread, Wait::kActiveMask)) return "waiting here in __activemask";
  if (waits(thread, Wait::kPhase)) {
    return std::string("waiting here in ") + static_cast<const char*>(thread.pc);
  }
  if (waits(thread, Wait::kWarp)) {
    const WarpSlot* const slot = slot_of(block, number);
    if (slot == nullptr) return "waiting here in a warp operation";
    return std::string("waiting here in ") + name_of(slot->operation) + " with mask " +
           mask_text(slot->mask);
  }
  return "";
}

bool same_site(const Site& a, const Site& b) {
  return a.line == b.line && (a.file == b.file || (a.file != nullptr && b.file != nullptr &&
                                                   std::string(a.file) == b.file));
}

void add_to_group(std::vector<Group>* groups, const std::string& doing, Site site, unsigned thread,
                  std::uint8_t which = 0) {
  for (Group& group : *groups) {
    if (group.doing == doing && same_site(group.site, site) && group.which == which) {
      group.threads.push_back(thread);
      return;
    }
  }
  groups->push_back({doing, site, which, {thread}});
}

// The threads that have begun, in the order of their indices.
std::vector<unsigned> begun(const Block* block) {
  std::vector<unsigned> threads(block->order, block->order + block->started);
  std::sort(threads.begin(), threads.end());
  return threads;
}

std::vector<Group> groups_of(const Block* block) {
  std::vector<Group> groups;
  for (const unsigned i : begun(block)) {
    const std::string doing = what_it_does(block, i);
    const Thread& thread = block->threads[i];
    if (doing.empty()) continue;
    const bool at_barrier = waits(thread, Wait::kBarrier) || waits(thread, Wait::kGrid);
    const std::uint8_t which = at_barrier ? thread.which : std::uint8_t{0};
    add_to_group(&groups, doing, {thread.file, thread.line}, i, which);
  }
  return groups;
}

void add_notes(const std::vector<Group>& groups, Report* report) {
  for (const Group& group : groups) {
    report->notes.push_back({group.site, (group.threads.size() == 1 ? "thread " : "threads ") +
                                             ranges_text(group.threads) + " " + group.doing});
  }
}

// The first thread of the block that waits for a thing of this kind; nullptr if none does.
const Thread* first_waiting(const Block* block, Wait wait) {
  for (const unsigned i : begun(block)) {
    if (waits(block->threads[i], wait)) return &block->threads[i];
  }
  return nullptr;
}

// Some threads wait at another barrier of the same line.
bool share_a_line(const std::vector<Group>& groups) {
  for (const Group& a : groups) {
    for (const Group& b : groups) {
      if (same_site(a.site, b.site) && a.which != b.which) return true;
    }
  }
  return false;
}

void explain_warp_operation(const Block* block, const Thread* thread, Report* report) {
  const auto number = static_cast<unsigned>(thread - block->threads);
  const WarpSlot* const slot = slot_of(block, number);
  if (slot == nullptr) {
    report->headline = "a warp operation waits for lanes that never come";
    return;
  }
  const unsigned first = number / 32 * 32;
  std::vector<unsigned> lanes;
  bool any_left = false;
  for (unsigned lane = 0; lane < 32 && first + lane < block->count; ++lane) {
    if (((slot->mask & ~slot->arrived) >> lane & 1) == 0) continue;
    lanes.push_back(lane);
    any_left = any_left || block->threads[first + lane].finished;
  }
  report->headline = format("%s waits for lanes that never come", name_of(slot->operation));
  report->details.push_back(
      format("mask %s of warp %u: missing %s %s", mask_text(slot->mask).c_str(), number / 32,
             lanes.size() == 1 ? "is lane" : "are lanes", ranges_text(lanes).c_str()));
  report->help =
      any_left ? "the mask must not name lanes that have left: keep them, or compute the mask "
                 "with __ballot_sync before they leave"
               : "every lane that the mask names must make the same call with the same mask";
}

void explain_different_barriers(const Block* block, const char* barrier, Report* report) {
  report->headline = "threads of one block wait at different barriers";
  if (share_a_line(groups_of(block))) {
    report->details.push_back("they stand on one line of the source, and are two barriers");
  }
  report->help = format(
      "every thread of the block must come to the same %s: move it out of the branch", barrier);
}

void explain_grid_barrier(const Block* block, const Thread*, Report* report) {
  if (block->grid_arrived == block->count) {  // and yet it did not open
    return explain_different_barriers(block, "grid barrier", report);
  }
  report->headline = "grid barrier not reached by all threads of the grid";
  report->help = "every thread of every block must come to the grid barrier";
}

void explain_block_barrier(const Block* block, const Thread*, Report* report) {
  if (block->finished == 0 && block->lines_differ) {
    return explain_different_barriers(block, "__syncthreads", report);
  }
  report->headline = "barrier not reached by all threads of the block";
  report->details.push_back(format("%u of %u threads wait", block->arrived, block->count));
  if (block->finished == 0) return;
  report->details.back() += format(", %u have left the kernel", block->finished);
  report->help = "keep every thread to the barrier: put the work, not the barrier, into the branch";
}

// The barrier that the thread waits at; null if it waits for something else.
const PhaseBarrier* phase_barrier_of(const Block* block, const Thread& thread) {
  for (std::uint32_t i = 0; i < block->phase_barrier_count; ++i) {
    const PhaseBarrier* const barrier = block->phase_barriers[i];
    if (thread.wait == Wait::kPhase && thread.generation == &barrier->phase) return barrier;
  }
  return nullptr;
}

void explain_phase_barrier(const Block* block, const Thread* thread, Report* report) {
  report->headline = "cuda::barrier waits for arrivals that never come";
  report->help =
      "in each phase as many threads have to arrive as init() says, or drop out by "
      "arrive_and_drop; "
      "in a pipeline each thread that produces commits, and each that consumes releases";
  const PhaseBarrier* const barrier = phase_barrier_of(block, *thread);
  if (barrier == nullptr) {  // of a warp group
    report->headline = format("%s waits for threads of the warp group that never come",
                              static_cast<const char*>(thread->pc));
    report->help = "all 128 threads of a warp group make the same products";
    return;
  }
  if (barrier->made.file == nullptr) {
    report->headline = "sync() of a tile of several warps waits for threads that never come";
    report->details.push_back(
        format("%u of its %u threads are missing", barrier->missing, barrier->expected));
    report->help = "every thread of the tile must come to its sync()";
    return;
  }
  report->details.push_back(
      format("in this phase %u of %u arrivals are missing", barrier->missing, barrier->expected));
  if (barrier->counts_bytes) {
    report->headline = "mbarrier waits for a phase that never ends";
    report->details.back() =
        format("in phase %u, of parity %u, %u of %u arrivals are missing", barrier->phase,
               barrier->phase % 2, barrier->missing, barrier->expected);
    if (barrier->bytes > 0) {
      report->details.back() +=
          format(", and %lld bytes that no copy brings", static_cast<long long>(barrier->bytes));
    }
    report->help =
        "each phase needs as many arrivals as mbarrier_init names, and copies of all the bytes "
        "that "
        "mbarrier_expect names; waits for the phases of a barrier have parity 0, 1, 0, 1, ...";
  }
  report->notes.push_back({barrier->made, "initialised here"});
}

void add_spinning(const Worker* worker, const Block* block, std::vector<Group>* groups) {
  // Threads that yielded in the same loop share their pc, so few addresses are looked up.
  std::map<const void*, Site> known;
  for (const unsigned i : begun(block)) {
    const Thread& thread = block->threads[i];
    const bool is_current = &thread == current_thread;
    if (thread.finished || (!is_current && thread.wait != Wait::kYield)) continue;
    const void* const pcs[2] = {is_current ? worker->fault.pc : nullptr,
                                thread.wait == Wait::kYield
                                    ? static_cast<const char*>(thread.pc) - 1  // after the call
                                    : nullptr};
    for (const void* const pc : pcs) {
      if (pc == nullptr) continue;
      const auto [entry, is_new] = known.try_emplace(pc);
      if (is_new) entry->second = source_site_of(pc);
      if (entry->second.file == nullptr) continue;
      add_to_group(groups, "spinning here", entry->second, i);
      break;
    }
  }
}

}  // namespace

int report_stuck_block(const Block* block) {
  hold_interrupts();
  constexpr std::pair<Wait, void (*)(const Block*, const Thread*, Report*)> kReasons[] = {
      {Wait::kWarp, explain_warp_operation},
      {Wait::kBarrier, explain_block_barrier},
      {Wait::kPhase, explain_phase_barrier},
      {Wait::kGrid, explain_grid_barrier}};
  for (const auto& [wait, explain] : kReasons) {
    const Thread* const thread = first_waiting(block, wait);
    if (thread == nullptr) continue;
    Report r = report_here("", {thread->file, thread->line}, cudaErrorLaunchFailure);
    r.where = where_is(block, thread);
    explain(block, thread, &r);
    add_notes(groups_of(block), &r);
    return report(r);
  }
  die("a block is stuck for a reason that the engine does not know");
}

int report_no_progress(const Worker* worker) {
  Block* const block = current_block;
  std::vector<Group> groups;
  add_spinning(worker, block, &groups);
  Report r = report_here(
      worker->exit == Exit::kOnlyBarriers
          ? format("barrier after barrier for %g s, and no thread has ended",
                   barrier_timeout_seconds())
          : format("no progress for %g s", timeout_seconds()),
      {nullptr, 0}, cudaErrorLaunchTimeout, {},
      "does the loop end for every thread, and is what it waits for written by a thread that can "
      "run? (CUDA_CPU_TIMEOUT=SECONDS, 0 for none)");
  // If the current thread does not spin, its block waits for others that never come.
  for (const Group& group : groups) {
    if (std::binary_search(group.threads.begin(), group.threads.end(), number_in_block())) {
      r.site = group.site;
    }
  }
  for (const Group& group : groups_of(block)) groups.push_back(group);
  if (r.site.file == nullptr && !groups.empty()) r.site = groups.front().site;
  add_notes(groups, &r);
  return report(r);
}

}  // namespace cuda_cpu
