// SPDX-License-Identifier: MIT
// Calls wait as the toolkit's do. A copy from or to pageable memory is done when the call returns;
// its asynchronous form takes what the source holds at the call, or waits for the destination. One
// from or to pinned memory is done when its stream is. Copies within the device and fills return at
// once. Arguments that the toolkit refuses return its error code, and a report explains them.
#include "copies.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "../engine/arithmetic/device_functions.h"
#include "../engine/diagnosis/faults.h"
#include "../engine/memory/marked_pointers.h"
#include "../engine/memory/memory.h"
#include "../engine/memory/memory_notes.h"
#include "../engine/state/leaving.h"
#include "../engine/state/observer.h"
#include "../report/diagnostics.h"
#include "contexts.h"
#include "errors.h"
#include "last_words.h"
#include "work_queues.h"

namespace cuda_cpu {
namespace {

/// The rows of bytes that a copy moves; a plain copy has one.
struct Rows {
  char* destination = nullptr;
  std::size_t destination_pitch = 0;
  const char* source = nullptr;
  std::size_t source_pitch = 0;
  std::size_t width = 0;
  std::size_t height = 0;

  /// From the first byte to just past the last.
  std::size_t destination_extent() const { return (height - 1) * destination_pitch + width; }
  std::size_t source_extent() const { return (height - 1) * source_pitch + width; }
};

/// Which side can use the memory at an address: only the host, only the device, or both.
enum class Reach { kPageable, kDevice, kBoth };

/// The memory at one end of a copy.
struct Endpoint {
  Reach reach = Reach::kPageable;
  bool known = false;  // `range` says more
  MemoryRange range;
};

Endpoint endpoint_of(const void* pointer) {
  Endpoint endpoint;
  endpoint.known = find_live_range(pointer, &endpoint.range);
  if (!endpoint.known) {
    // A freed allocation or a guard page is not host memory either.
    if (is_device_address(pointer)) endpoint.reach = Reach::kDevice;
    return endpoint;
  }
  const Space space = endpoint.range.space;
  const bool device = space == Space::kGlobal || space == Space::kConstant ||
                      space == Space::kDevice || space == Space::kShared;
  endpoint.reach = device ? Reach::kDevice : Reach::kBoth;
  return endpoint;
}

const char* kind_name(cudaMemcpyKind kind) {
  static const char* const kNames[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                       "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
                                       "cudaMemcpyDefault"};
  return kNames[kind];
}

/// Refuses a range of memory that is not there. `role` is "source" or "destination".
int check_range(const WorkLabel& label, const char* role, const void* pointer, std::size_t bytes,
                const Endpoint& endpoint) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (!endpoint.known) {
    const bool ours = is_device_address(pointer) || is_host_visible_address(pointer);
    if (!ours) return cudaSuccess;  // pageable: nobody knows its end
    MemoryRange near;
    if (!find_range(pointer, &near)) {
      return misuse(label.site, cudaErrorInvalidValue,
                    format("%s: the %s is no allocation", label.call, role),
                    {format("the address is %p", pointer)});
    }
    if (!near.live) {
      return misuse(label.site, cudaErrorInvalidValue,
                    format("%s: the %s was freed", label.call, role), {},
                    {origin_note(near), freed_note(near)});
    }
    const bool behind = address >= near.end();
    return misuse(label.site, cudaErrorInvalidValue,
                  format("%s: the %s begins outside its allocation", label.call, role),
                  {format("it begins %zu bytes %s an allocation of %zu bytes",
                          behind ? address - near.end() : near.base - address,
                          behind ? "after the end of" : "before", near.size)},
                  {origin_note(near)});
  }
  const MemoryRange& range = endpoint.range;
  // Host memory may go on after the part that was registered.
  if (range.space == Space::kHostRegistered) return cudaSuccess;
  const std::size_t room = range.end() - address;
  if (bytes <= room) return cudaSuccess;
  const bool is_twice = range.element_size > 1 && bytes == room * range.element_size;
  return misuse(
      label.site, cudaErrorInvalidValue, format("%s past the end of the %s", label.call, role),
      {*range.name != '\0'
           ? format("%zu bytes are asked for; from there to the end of '%s' are %zu", bytes,
                    range.name, room)
           : format("%zu bytes are asked for; the allocation has %zu from there to its end", bytes,
                    room)},
      {origin_note(range)},
      is_twice ? "was the size multiplied by the size of an element twice, or not at all when "
                 "allocating?"
               : "");
}

/// Refuses an end of a copy whose memory is not on the side that the direction names.
int check_side(const WorkLabel& label, const char* role, const Endpoint& endpoint, bool on_device,
               cudaMemcpyKind kind) {
  const bool is_device = endpoint.reach == Reach::kDevice;
  if (kind == cudaMemcpyDefault || endpoint.reach == Reach::kBoth || is_device == on_device) {
    return cudaSuccess;
  }
  return misuse(label.site, cudaErrorInvalidValue,
                format("%s: the %s is %s memory, which %s does not allow", label.call, role,
                       is_device ? "device" : "host", kind_name(kind)),
                {}, {},
                "the destination comes first, then the source; cudaMemcpyDefault tells by itself.");
}

int report_copy_fault(const WorkLabel& label, const char* role, const void* fault) {
  Report it = report_here(format("%s: the %s is not there", label.call, role), label.site,
                          cudaErrorInvalidValue);
  MemoryRange range;
  if (find_range(fault, &range) && !range.live) {
    it.headline = format("%s: the %s was freed before the copy ran", label.call, role);
    it.notes = notes_of(range);
  } else {
    it.details.push_back(format("address %p cannot be accessed", fault));
    it.help = "is the host pointer valid, and its buffer large enough?";
  }
  return report(it);
}

/// A pointer to the host's memory must not be followed by a kernel: it is marked on its way there,
/// and restored on its way back.
void mark_pointers(const Rows& rows) {
  MemoryRange from, to;
  const bool knows_to = find_live_range(rows.destination, &to);
  const bool to_device = is_device_address(rows.destination) ||
                         (knows_to && (to.space == Space::kDevice || to.space == Space::kConstant));
  const bool marks = to_device && knows_to && to.may_hold_pointers;
  const bool restores = !to_device && find_live_range(rows.source, &from) && from.may_hold_pointers;
  if (!marks && !restores) return;
  const auto change = marks ? mark_host_pointers : restore_host_pointers;
  for (std::size_t row = 0; row < rows.height; ++row) {
    change(rows.destination + row * rows.destination_pitch, rows.width);
  }
}

int copy_rows(const WorkLabel& label, const Rows& rows) {
  const OpenAllocation source(rows.source), destination(rows.destination);
  for (std::size_t row = 0; row < rows.height; ++row) {
    char* const to = rows.destination + row * rows.destination_pitch;
    const char* const from = rows.source + row * rows.source_pitch;
    tell_of_range(from, rows.width, false, label.call, label.site);
    tell_of_range(to, rows.width, true, label.call, label.site, from);
    const void* fault = nullptr;
    if (guarded_copy(to, from, rows.width, &fault)) continue;
    const bool in_source = fault >= rows.source && fault < rows.source + rows.source_extent();
    return report_copy_fault(label, in_source ? "source" : "destination", fault);
  }
  mark_pointers(rows);
  return cudaSuccess;
}

/// The runtime reads and writes in any order.
void report_overlap(const WorkLabel& label, const Rows& rows) {
  const std::ptrdiff_t ahead = rows.destination - rows.source;
  const auto distance = static_cast<std::size_t>(ahead < 0 ? -ahead : ahead);
  if (rows.height != 1 || distance == 0 || distance >= rows.width) return;
  finding(
      report_here(format("%s: source and destination overlap", label.call), label.site, cudaSuccess,
                  {format("%zu bytes of the %zu are in both", rows.width - distance, rows.width)},
                  "what arrives is undefined: copy by way of other memory"));
}

/// The registered variable at `symbol`; an error when there is none.
int find_symbol(const WorkLabel& label, const void* symbol, MemoryRange* range) {
  if (symbol != nullptr && find_live_range(symbol, range) && *range->name != '\0' &&
      range->base == reinterpret_cast<std::uintptr_t>(symbol)) {
    return cudaSuccess;
  }
  return misuse(
      label.site, cudaErrorInvalidSymbol,
      format("%s: this is no __device__, __constant__ or __managed__ variable", label.call), {}, {},
      "name the variable itself: not its address, not a string, not a pointer to memory");
}

/// Refuses a copy in a direction that a symbol does not allow, or past the variable's end. `usual`
/// is the direction between host and symbol.
int check_symbol_copy(const WorkLabel& label, const void* symbol, std::size_t bytes,
                      std::size_t offset, cudaMemcpyKind kind, cudaMemcpyKind usual) {
  if (kind != usual && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  MemoryRange range;
  if (const int error = find_symbol(label, symbol, &range)) return error;
  if (offset <= range.size && bytes <= range.size - offset) return cudaSuccess;
  return misuse(
      label.site, cudaErrorInvalidValue, format("%s past the end of '%s'", label.call, range.name),
      {format("%zu bytes at offset %zu; the variable has %zu bytes", bytes, offset, range.size)},
      {{range.allocated, "declared here"}});
}

}  // namespace

cudaError_t copy_row(const char* call, Site site, void* destination, const void* source,
                     std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool async) {
  return copy_block(call, site, destination, bytes, source, bytes, bytes, 1, kind, stream, async);
}

cudaError_t copy_block(const char* call, Site site, void* destination,
                       std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                       std::size_t width, std::size_t height, cudaMemcpyKind kind,
                       cudaStream_t stream, bool async) {
  const WorkLabel label{call, site};
  if (width > destination_pitch || width > source_pitch) {
    return finish(misuse(label.site, cudaErrorInvalidPitchValue,
                         format("%s: a row is wider than the pitch", label.call),
                         {format("width %zu, destination pitch %zu, source pitch %zu bytes", width,
                                 destination_pitch, source_pitch)},
                         {}, "width and pitches count bytes, not elements"));
  }
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return finish(cudaErrorInvalidMemcpyDirection);
  }
  if (find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (width == 0 || height == 0) return cudaSuccess;
  if (destination == nullptr || source == nullptr) {
    return finish(misuse(label.site, cudaErrorInvalidValue,
                         format("%s: the %s is a null pointer", label.call,
                                source == nullptr ? "source" : "destination")));
  }
  for (const void* const end : {static_cast<const void*>(destination), source}) {
    if (!is_on_device_heap(end)) continue;
    const char* const role = end == source ? "source" : "destination";
    return finish(
        misuse(label.site, cudaErrorInvalidValue,
               format("%s: the %s is what malloc in device code gave", label.call, role), {}, {},
               "no call of the runtime copies it: let a kernel copy it to memory of cudaMalloc"));
  }
  auto* const first = static_cast<const char*>(source);
  Rows rows{static_cast<char*>(destination), destination_pitch, first, source_pitch, width, height};
  const Endpoint to = endpoint_of(destination), from = endpoint_of(source);
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  int error = check_side(label, "destination", to, to_device, kind);
  if (error == 0) error = check_side(label, "source", from, from_device, kind);
  if (error == 0) {
    error = check_range(label, "destination", destination, rows.destination_extent(), to);
  }
  if (error == 0) error = check_range(label, "source", source, rows.source_extent(), from);
  if (error != 0) return finish(error);
  report_overlap(label, rows);
  if (height == 1 && to.reach == Reach::kDevice && to.known) {
    note_transfer(Transfer::kToDevice, to.range, destination, width, call, site);
  }
  if (height == 1 && from.reach == Reach::kDevice && from.known) {
    note_transfer(Transfer::kFromDevice, from.range, source, width, call, site);
  }

  const bool host_involved = to.reach != Reach::kDevice || from.reach != Reach::kDevice;
  const bool later = is_captured(stream);  // a graph's copy reads its source when the graph runs
  const bool wait = async ? to.reach == Reach::kPageable && !later : host_involved;
  std::shared_ptr<std::string> staged;
  if (async && !wait && !later && from.reach == Reach::kPageable) {
    // The copy brings what the source holds now.
    staged = std::make_shared<std::string>(width * height, '\0');
    Rows take = rows;
    take.destination = staged->data();
    take.destination_pitch = width;
    if (const int failed = copy_rows(label, take)) return finish(failed);
    rows.source = staged->data();
    rows.source_pitch = width;
  }
  Work work;
  work.label = label;
  work.needs_device_memory = false;
  work.kind = WorkKind::kCopy;
  work.run = [label, rows, staged] { return copy_rows(label, rows); };
  return finish(submit(stream, std::move(work), wait));
}

cudaError_t fill_block(const char* call, Site site, void* pointer, std::size_t pitch, int value,
                       std::size_t width, std::size_t height, cudaStream_t stream, bool async) {
  const WorkLabel label{call, site};
  if (find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (width == 0 || height == 0) return cudaSuccess;
  if (pointer == nullptr) {
    return finish(
        misuse(label.site, cudaErrorInvalidValue, format("%s of a null pointer", label.call)));
  }
  const Endpoint endpoint = endpoint_of(pointer);
  if (endpoint.reach == Reach::kPageable && !is_host_visible_address(pointer)) {
    return finish(misuse(label.site, cudaErrorInvalidValue, format("%s of host memory", label.call),
                         {}, {}, "use std::memset or std::fill for memory of the host"));
  }
  if (const int error =
          check_range(label, "destination", pointer, (height - 1) * pitch + width, endpoint)) {
    return finish(error);
  }
  if (height == 1 && endpoint.known) {
    note_transfer(Transfer::kFill, endpoint.range, pointer, width, call, site);
  }
  Work work;
  work.label = label;
  work.kind = WorkKind::kFill;
  work.needs_device_memory = false;
  work.run = [=] {
    const OpenAllocation open(pointer);
    for (std::size_t row = 0; row < height; ++row) {
      char* const to = static_cast<char*>(pointer) + row * pitch;
      tell_of_range(to, width, true, label.call, label.site);
      const void* fault = nullptr;
      if (!guarded_fill(to, value, width, &fault)) {
        return report_copy_fault(label, "destination", fault);
      }
    }
    return 0;
  };
  return finish(submit(stream, std::move(work), !async && endpoint.reach == Reach::kBoth));
}

void note_fill_with(double value, Site site) {
  if (value == 0) return;
  say_note(
      site,
      format("cudaMemset with %g: it fills with bytes, here with 0x%02x, and not with this number",
             value, static_cast<unsigned>(static_cast<int>(value)) & 0xff),
      "std::fill on the host and a copy, or a kernel that stores the number");
}

cudaError_t copy_to_symbol(const void* symbol, const void* source, std::size_t bytes,
                           std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, bool async,
                           Site site) {
  CUDA_CPU_BEGIN_CALL();
  const char* const call = async ? "cudaMemcpyToSymbolAsync" : "cudaMemcpyToSymbol";
  const int error =
      check_symbol_copy({call, site}, symbol, bytes, offset, kind, cudaMemcpyHostToDevice);
  if (error != 0) return finish(error);
  char* const destination = static_cast<char*>(const_cast<void*>(symbol)) + offset;
  return copy_row(call, site, destination, source, bytes, kind, stream, async);
}

cudaError_t copy_from_symbol(void* destination, const void* symbol, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream,
                             bool async, Site site) {
  CUDA_CPU_BEGIN_CALL();
  const char* const call = async ? "cudaMemcpyFromSymbolAsync" : "cudaMemcpyFromSymbol";
  const int error =
      check_symbol_copy({call, site}, symbol, bytes, offset, kind, cudaMemcpyDeviceToHost);
  if (error != 0) return finish(error);
  const char* const source = static_cast<const char*>(symbol) + offset;
  return copy_row(call, site, destination, source, bytes, kind, stream, async);
}

cudaError_t symbol_address(void** address, const void* symbol, Site site) {
  CUDA_CPU_BEGIN_CALL();
  MemoryRange range;
  if (address == nullptr) return finish(cudaErrorInvalidValue);
  const int error = find_symbol({"cudaGetSymbolAddress", site}, symbol, &range);
  if (error == 0) *address = const_cast<void*>(symbol);
  return finish(error);
}

cudaError_t symbol_size(std::size_t* size, const void* symbol, Site site) {
  CUDA_CPU_BEGIN_CALL();
  MemoryRange range;
  if (size == nullptr) return finish(cudaErrorInvalidValue);
  const int error = find_symbol({"cudaGetSymbolSize", site}, symbol, &range);
  if (error == 0) *size = range.size;
  return finish(error);
}

}  // namespace cuda_cpu

using namespace cuda_cpu;

cudaError_t cudaMemcpy(void* destination, const void* source, size_t bytes, cudaMemcpyKind kind,
                       Site site) {
  CUDA_CPU_BEGIN_CALL();
  return copy_row("cudaMemcpy", site, destination, source, bytes, kind, nullptr, false);
}

cudaError_t cudaMemcpyAsync(void* destination, const void* source, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return copy_row("cudaMemcpyAsync", site, destination, source, bytes, kind, stream, true);
}

cudaError_t cudaMemcpyPeer(void* destination, int destination_device, const void* source,
                           int source_device, size_t bytes, Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_device(destination_device) || !is_device(source_device)) {
    return finish(cudaErrorInvalidDevice);
  }
  // What these devices have to do comes before the copy, and all that they are given later behind
  // it.
  for (const int device : {current_device(), source_device, destination_device}) {
    if (const int error = run_device(device)) return finish(error);
  }
  if (const cudaError_t error = copy_row("cudaMemcpyPeer", site, destination, source, bytes,
                                         cudaMemcpyDeviceToDevice, nullptr, false)) {
    return error;
  }
  return finish(run_device(current_device()));
}

cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                                int source_device, size_t bytes, cudaStream_t stream, Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_device(destination_device) || !is_device(source_device)) {
    return finish(cudaErrorInvalidDevice);
  }
  return copy_row("cudaMemcpyPeerAsync", site, destination, source, bytes, cudaMemcpyDeviceToDevice,
                  stream, true);
}

cudaError_t cudaMemcpy2D(void* destination, size_t destination_pitch, const void* source,
                         size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                         Site site) {
  CUDA_CPU_BEGIN_CALL();
  return copy_block("cudaMemcpy2D", site, destination, destination_pitch, source, source_pitch,
                    width, height, kind, nullptr, false);
}

cudaError_t cudaMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return copy_block("cudaMemcpy2DAsync", site, destination, destination_pitch, source, source_pitch,
                    width, height, kind, stream, true);
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return fill_block("cudaMemset", site, pointer, bytes, value, bytes, 1, nullptr, false);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream,
                            Site site) {
  CUDA_CPU_BEGIN_CALL();
  return fill_block("cudaMemsetAsync", site, pointer, bytes, value, bytes, 1, stream, true);
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height,
                         Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (width > pitch) return finish(cudaErrorInvalidValue);
  return fill_block("cudaMemset2D", site, pointer, pitch, value, width, height, nullptr, false);
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream, Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (width > pitch) return finish(cudaErrorInvalidValue);
  return fill_block("cudaMemset2DAsync", site, pointer, pitch, value, width, height, stream, true);
}
