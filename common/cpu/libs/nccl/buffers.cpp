// SPDX-License-Identifier: MIT
#include "buffers.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "../../engine/memory/memory.h"
#include "../../engine/memory/memory_notes.h"

namespace cuda_cpu {
namespace {

/// One of the two buffers.
struct Buffer {
  const char* name;
  const void* data;
  std::size_t bytes;
};

Report fault(Site site, const std::string& headline, std::vector<std::string> details = {},
             std::vector<Report::Note> notes = {}, const std::string& help = "") {
  return {headline, site, {}, std::move(details), std::move(notes), help, cudaErrorIllegalAddress};
}

Report fault_of(const ncclComm& comm, const NcclOperation& operation, const Buffer& it) {
  const Site site = operation.site;
  const std::string of_rank = format("%s of rank %d: ", name_of(operation.terms.call), comm.rank);
  const std::string buffer = of_rank + it.name;
  if (it.bytes == 0) return {};
  if (it.data == nullptr) return fault(site, buffer + " is a null pointer");
  const auto address = reinterpret_cast<std::uintptr_t>(it.data);
  MemoryRange range;
  if (!find_live_range(it.data, &range)) {
    if (!is_device_address(it.data) || !find_range(it.data, &range)) {
      return fault(
          site, buffer + " is host memory",
          {format("%s, %p, is no address that device %d can reach", it.name, it.data, comm.device)},
          {}, "allocate with cudaMalloc while the rank's device is current");
    }
    if (!range.live) {
      return fault(site, buffer + " was freed", {}, notes_of(range),
                   "free the memory after the stream has come to the end of the call");
    }
    return fault(site, buffer + " is outside of an allocation",
                 {format("%s is %p", it.name, it.data)}, notes_of(range),
                 "check the offset that was added to the pointer");
  }
  if (range.space == Space::kGlobal && range.device != comm.device) {
    return fault(site,
                 buffer + format(" is memory of device %d, and the rank is on device %d",
                                 range.device, comm.device),
                 {}, notes_of(range),
                 format("cudaSetDevice(%d) before the allocation, or the buffer of the other rank",
                        comm.device));
  }
  if (range.space == Space::kConstant || range.space == Space::kDevice) {
    return fault(site, buffer + " lies in " + memory_name(range), {}, notes_of(range),
                 "the CPU backend's NCCL takes memory that was allocated");
  }
  if (address % size_of(operation.terms.type) != 0) {
    return fault(site, buffer + " is misaligned",
                 {format("%p is no multiple of %zu, the size of its elements", it.data,
                         size_of(operation.terms.type))});
  }
  if (it.bytes > range.end() - address) {
    return fault(
        site, of_rank + "past the end of " + it.name,
        {format("%s uses %zu bytes of it, and from there to the end of the memory are %zu",
                text_of(operation.terms).c_str(), it.bytes, range.end() - address)},
        notes_of(range),
        operation.terms.call == NcclCall::kAllGather ||
                operation.terms.call == NcclCall::kReduceScatter
            ? "the count is that of one rank, and the longer buffer has as many for each rank"
            : "the count is in elements: is it larger than the buffer?");
  }
  return {};
}

}  // namespace

Report fault_of(const ncclComm& comm, const NcclOperation& it) {
  const int ranks = comm.clique->ranks;
  const bool is_one = !it.terms.is_collective();
  const Buffer from{is_one ? "the buffer" : "sendbuff", it.from,
                    it.terms.bytes_read(comm.rank, ranks)};
  const Buffer to{is_one ? "the buffer" : "recvbuff", it.to,
                  it.terms.bytes_written(comm.rank, ranks)};
  for (const Buffer& buffer : {from, to}) {
    Report fault = fault_of(comm, it, buffer);
    if (!fault.headline.empty()) return fault;
  }
  if (from.bytes == 0 || to.bytes == 0) return {};
  // In place, the buffers are one, or the shorter is the rank's part of the longer.
  const auto a = reinterpret_cast<std::uintptr_t>(it.from);
  const auto b = reinterpret_cast<std::uintptr_t>(it.to);
  if (a + from.bytes <= b || b + to.bytes <= a) return {};
  const auto part = static_cast<std::size_t>(comm.rank) * std::min(from.bytes, to.bytes);
  const bool is_in_place = from.bytes == to.bytes  ? a == b
                           : from.bytes < to.bytes ? a == b + part
                                                   : b == a + part;
  if (is_in_place) return {};
  return fault(
      it.site,
      format("%s of rank %d: sendbuff and recvbuff overlap", name_of(it.terms.call), comm.rank),
      {format("%p and %p", it.from, it.to)}, {},
      "in place, both are one buffer; or the shorter one is the rank's part of the longer");
}

}  // namespace cuda_cpu
