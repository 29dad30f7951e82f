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
#include <vector>

#include "../engine/device_functions.h"
#include "../engine/faults.h"
#include "../engine/marked_pointers.h"
#include "../engine/memory.h"
#include "../engine/memory_notes.h"
#include "../engine/observer.h"
#include "call.h"
#include "capture.h"
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

  bool empty() const { return width == 0 || height == 0; }
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

/// The call that is checked, as reports name it.
struct Call {
  const char* name;
  Site site;
};

/// Refuses a range of memory that is not there. `role` is "source" or "destination".
int check_range(const Call& call, const char* role, const void* pointer, std::size_t bytes,
                const Endpoint& endpoint) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (!endpoint.known) {
    const bool ours = is_device_address(pointer) || is_host_visible_address(pointer);
    if (!ours) return cudaSuccess;  // pageable: nobody knows its end
    MemoryRange near;
    if (!find_range(pointer, &near)) {
      return explain_misuse(call.site, cudaErrorInvalidValue,
                            format("%s: the %s is no allocation", call.name, role),
                            {format("the address is %p", pointer)});
    }
    std::vector<Report::Note> notes = {origin_note(near)};
    if (!near.live) {
      notes.push_back(freed_note(near));
      return explain_misuse(call.site, cudaErrorInvalidValue,
                            format("%s: the %s was freed", call.name, role), {}, notes);
    }
    const bool behind = address >= near.end();
    return explain_misuse(call.site, cudaErrorInvalidValue,
                          format("%s: the %s begins outside its allocation", call.name, role),
                          {format("it begins %zu bytes %s an allocation of %zu bytes",
                                  behind ? address - near.end() : near.base - address,
                                  behind ? "after the end of" : "before", near.size)},
                          notes);
  }
  // Host memory may go on after the part that was registered.
  if (endpoint.range.space == Space::kHostRegistered) return cudaSuccess;
  const std::size_t room = endpoint.range.end() - address;
  if (bytes <= room) return cudaSuccess;
  std::vector<std::string> details = {
      format("%zu bytes are asked for; from there to the end of '%s' are %zu", bytes,
             *endpoint.range.name != '\0' ? endpoint.range.name : "the allocation", room)};
  if (*endpoint.range.name == '\0') {
    details[0] = format("%zu bytes are asked for; the allocation has %zu from there to its end",
                        bytes, room);
  }
  std::string help;
  if (endpoint.range.element_size > 1 && bytes == room * endpoint.range.element_size) {
    help =
        "was the size multiplied by the size of an element twice, or not at all when allocating?";
  }
  return explain_misuse(call.site, cudaErrorInvalidValue,
                        format("%s past the end of the %s", call.name, role), details,
                        {origin_note(endpoint.range)}, help);
}

int wrong_direction(const Call& call, const char* role, const char* is, cudaMemcpyKind kind) {
  return explain_misuse(
      call.site, cudaErrorInvalidValue,
      format("%s: the %s is %s memory, which %s does not allow", call.name, role, is,
             kind_name(kind)),
      {}, {}, "the destination comes first, then the source; cudaMemcpyDefault tells by itself.");
}

int check_direction(const Call& call, cudaMemcpyKind kind, const Endpoint& destination,
                    const Endpoint& source) {
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind == cudaMemcpyDefault) return cudaSuccess;
  if (to_device && destination.reach == Reach::kPageable) {
    return wrong_direction(call, "destination", "host", kind);
  }
  if (!to_device && destination.reach == Reach::kDevice) {
    return wrong_direction(call, "destination", "device", kind);
  }
  if (from_device && source.reach == Reach::kPageable) {
    return wrong_direction(call, "source", "host", kind);
  }
  if (!from_device && source.reach == Reach::kDevice) {
    return wrong_direction(call, "source", "device", kind);
  }
  return cudaSuccess;
}

int report_copy_fault(const Call& call, const char* role, const void* fault) {
  Report it;
  it.headline = format("%s: the %s is not there", call.name, role);
  it.site = call.site;
  MemoryRange range;
  if (find_range(fault, &range) && !range.live) {
    it.headline = format("%s: the %s was freed before the copy ran", call.name, role);
    it.notes = {origin_note(range), freed_note(range)};
  } else {
    it.details.push_back(format("address %p cannot be accessed", fault));
    it.help = "is the host pointer valid, and its buffer large enough?";
  }
  it.cuda_error = cudaErrorInvalidValue;
  return report(it);
}

bool in_range(const void* address, const char* begin, std::size_t bytes) {
  const auto* const a = static_cast<const char*>(address);
  return a >= begin && a < begin + bytes;
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
  for (std::size_t row = 0; row < rows.height && (marks || restores); ++row) {
    char* const begin = rows.destination + row * rows.destination_pitch;
    if (marks) {
      mark_host_pointers(begin, rows.width);
    } else {
      restore_host_pointers(begin, rows.width);
    }
  }
}

int copy_rows(const Call& call, const Rows& rows) {
  const OpenAllocation source(rows.source), destination(rows.destination);
  for (std::size_t row = 0; row < rows.height; ++row) {
    char* const to = rows.destination + row * rows.destination_pitch;
    const char* const from = rows.source + row * rows.source_pitch;
    tell_of_range(from, rows.width, false, call.name, call.site);
    tell_of_range(to, rows.width, true, call.name, call.site);
    const void* fault = nullptr;
    if (guarded_copy(to, from, rows.width, &fault)) continue;
    const bool in_source = in_range(fault, rows.source, rows.source_extent());
    return report_copy_fault(call, in_source ? "source" : "destination", fault);
  }
  mark_pointers(rows);
  return cudaSuccess;
}

/// The runtime reads and writes in any order.
void report_overlap(const Call& call, const Rows& rows) {
  const std::ptrdiff_t ahead = rows.destination - rows.source;
  const auto distance = static_cast<std::size_t>(ahead < 0 ? -ahead : ahead);
  if (rows.height != 1 || distance == 0 || distance >= rows.width) return;
  Report it;
  it.headline = format("%s: source and destination overlap", call.name);
  it.site = call.site;
  it.details = {format("%zu bytes of the %zu are in both", rows.width - distance, rows.width)};
  it.help = "what arrives is undefined: copy by way of other memory";
  finding(it);
}

/// Checks and makes a copy on a stream. `async`: the call may return before it is done.
cudaError_t copy(const Call& call, Rows rows, cudaMemcpyKind kind, cudaStream_t stream,
                 bool async) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return finish(cudaErrorInvalidMemcpyDirection);
  }
  if (find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (rows.empty()) return cudaSuccess;
  if (rows.destination == nullptr || rows.source == nullptr) {
    return finish(explain_misuse(call.site, cudaErrorInvalidValue,
                                 format("%s: the %s is a null pointer", call.name,
                                        rows.source == nullptr ? "source" : "destination")));
  }
  for (const void* const end :
       {static_cast<const void*>(rows.destination), static_cast<const void*>(rows.source)}) {
    if (!is_on_device_heap(end)) continue;
    const char* const role = end == rows.source ? "source" : "destination";
    return finish(explain_misuse(
        call.site, cudaErrorInvalidValue,
        format("%s: the %s is what malloc in device code gave", call.name, role), {}, {},
        "no call of the runtime copies it: let a kernel copy it to memory of cudaMalloc"));
  }
  const Endpoint destination = endpoint_of(rows.destination), source = endpoint_of(rows.source);
  int error = check_direction(call, kind, destination, source);
  if (error == 0) {
    error =
        check_range(call, "destination", rows.destination, rows.destination_extent(), destination);
  }
  if (error == 0) {
    error = check_range(call, "source", rows.source, rows.source_extent(), source);
  }
  if (error != 0) return finish(error);
  report_overlap(call, rows);
  if (rows.height == 1 && destination.reach == Reach::kDevice && destination.known) {
    note_transfer(Transfer::kToDevice, destination.range, rows.destination, rows.width, call.name,
                  call.site);
  }
  if (rows.height == 1 && source.reach == Reach::kDevice && source.known) {
    note_transfer(Transfer::kFromDevice, source.range, rows.source, rows.width, call.name,
                  call.site);
  }

  const bool host_involved = destination.reach != Reach::kDevice || source.reach != Reach::kDevice;
  const bool later = is_captured(stream);  // a graph's copy reads its source when the graph runs
  const bool wait = async ? destination.reach == Reach::kPageable && !later : host_involved;
  std::shared_ptr<std::vector<char>> staged;
  if (async && !wait && !later && source.reach == Reach::kPageable) {
    // The copy brings what the source holds now.
    staged = std::make_shared<std::vector<char>>(rows.width * rows.height);
    Rows take = rows;
    take.destination = staged->data();
    take.destination_pitch = rows.width;
    if (const int failed = copy_rows(call, take)) return finish(failed);
    rows.source = staged->data();
    rows.source_pitch = rows.width;
  }
  Work work;
  work.label = {call.name, call.site};
  work.needs_device_memory = false;
  work.kind = WorkKind::kCopy;
  work.run = [call, rows, staged] { return copy_rows(call, rows); };
  return finish(submit(stream, std::move(work), wait));
}

cudaError_t fill(const Call& call, void* pointer, std::size_t pitch, int value, std::size_t width,
                 std::size_t height, cudaStream_t stream, bool async) {
  if (find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (width == 0 || height == 0) return cudaSuccess;
  if (pointer == nullptr) {
    return finish(explain_misuse(call.site, cudaErrorInvalidValue,
                                 format("%s of a null pointer", call.name)));
  }
  const Endpoint endpoint = endpoint_of(pointer);
  if (endpoint.reach == Reach::kPageable && !is_host_visible_address(pointer)) {
    return finish(explain_misuse(call.site, cudaErrorInvalidValue,
                                 format("%s of host memory", call.name), {}, {},
                                 "use std::memset or std::fill for memory of the host"));
  }
  if (const int error =
          check_range(call, "destination", pointer, (height - 1) * pitch + width, endpoint)) {
    return finish(error);
  }
  if (height == 1 && endpoint.known) {
    note_transfer(Transfer::kFill, endpoint.range, pointer, width, call.name, call.site);
  }
  Work work;
  work.label = {call.name, call.site};
  work.kind = WorkKind::kFill;
  work.needs_device_memory = false;
  work.run = [=] {
    const OpenAllocation open(pointer);
    for (std::size_t row = 0; row < height; ++row) {
      char* const to = static_cast<char*>(pointer) + row * pitch;
      tell_of_range(to, width, true, call.name, call.site);
      const void* fault = nullptr;
      if (!guarded_fill(to, value, width, &fault)) {
        return report_copy_fault(call, "destination", fault);
      }
    }
    return 0;
  };
  return finish(submit(stream, std::move(work), !async && endpoint.reach == Reach::kBoth));
}

}  // namespace

void note_fill_with(double value, Site site) {
  if (value == 0) return;
  say_note(
      site,
      format("cudaMemset with %g: it fills with bytes, here with 0x%02x, and not with this number",
             value, static_cast<unsigned>(static_cast<int>(value)) & 0xff),
      "std::fill on the host and a copy, or a kernel that stores the number");
}

namespace {

Rows one_row(void* destination, const void* source, std::size_t bytes) {
  return {
      static_cast<char*>(destination), bytes, static_cast<const char*>(source), bytes, bytes, 1};
}

/// The registered variable at `symbol`; an error when there is none.
int find_symbol(const Call& call, const void* symbol, MemoryRange* range) {
  if (symbol != nullptr && find_live_range(symbol, range) && *range->name != '\0' &&
      range->base == reinterpret_cast<std::uintptr_t>(symbol)) {
    return cudaSuccess;
  }
  return explain_misuse(
      call.site, cudaErrorInvalidSymbol,
      format("%s: this is no __device__, __constant__ or __managed__ variable", call.name), {}, {},
      "name the variable itself: not its address, not a string, not a pointer to memory");
}

/// Refuses a copy in a direction that a symbol does not allow, or past the variable's end. `usual`
/// is the direction between host and symbol.
int check_symbol_copy(const Call& call, const void* symbol, std::size_t bytes, std::size_t offset,
                      cudaMemcpyKind kind, cudaMemcpyKind usual) {
  if (kind != usual && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  MemoryRange range;
  if (const int error = find_symbol(call, symbol, &range)) return error;
  if (offset <= range.size && bytes <= range.size - offset) return cudaSuccess;
  return explain_misuse(
      call.site, cudaErrorInvalidValue, format("%s past the end of '%s'", call.name, range.name),
      {format("%zu bytes at offset %zu; the variable has %zu bytes", bytes, offset, range.size)},
      {{range.allocated, "declared here"}});
}

Rows rows_2d(void* destination, std::size_t destination_pitch, const void* source,
             std::size_t source_pitch, std::size_t width, std::size_t height) {
  auto* const to = static_cast<char*>(destination);
  return {to, destination_pitch, static_cast<const char*>(source), source_pitch, width, height};
}

cudaError_t copy_2d(const Call& call, const Rows& rows, cudaMemcpyKind kind, cudaStream_t stream,
                    bool async) {
  if (rows.width > rows.destination_pitch || rows.width > rows.source_pitch) {
    return finish(explain_misuse(call.site, cudaErrorInvalidPitchValue,
                                 format("%s: a row is wider than the pitch", call.name),
                                 {format("width %zu, destination pitch %zu, source pitch %zu bytes",
                                         rows.width, rows.destination_pitch, rows.source_pitch)},
                                 {}, "width and pitches count bytes, not elements"));
  }
  return copy(call, rows, kind, stream, async);
}

}  // namespace

cudaError_t copy_block(const char* call, Site site, void* destination,
                       std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                       std::size_t width, std::size_t height, cudaMemcpyKind kind,
                       cudaStream_t stream, bool async) {
  return copy_2d({call, site},
                 rows_2d(destination, destination_pitch, source, source_pitch, width, height), kind,
                 stream, async);
}

cudaError_t fill_block(const char* call, Site site, void* pointer, std::size_t pitch, int value,
                       std::size_t width, std::size_t height, cudaStream_t stream) {
  return fill({call, site}, pointer, pitch, value, width, height, stream, true);
}

cudaError_t copy_to_symbol(const void* symbol, const void* source, std::size_t bytes,
                           std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, bool async,
                           Site site) {
  CUDA_CPU_BEGIN_CALL();
  const Call call{async ? "cudaMemcpyToSymbolAsync" : "cudaMemcpyToSymbol", site};
  const int error = check_symbol_copy(call, symbol, bytes, offset, kind, cudaMemcpyHostToDevice);
  if (error != 0) return finish(error);
  char* const destination = static_cast<char*>(const_cast<void*>(symbol)) + offset;
  return copy(call, one_row(destination, source, bytes), kind, stream, async);
}

cudaError_t copy_from_symbol(void* destination, const void* symbol, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream,
                             bool async, Site site) {
  CUDA_CPU_BEGIN_CALL();
  const Call call{async ? "cudaMemcpyFromSymbolAsync" : "cudaMemcpyFromSymbol", site};
  const int error = check_symbol_copy(call, symbol, bytes, offset, kind, cudaMemcpyDeviceToHost);
  if (error != 0) return finish(error);
  const char* const source = static_cast<const char*>(symbol) + offset;
  return copy(call, one_row(destination, source, bytes), kind, stream, async);
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

cudaError_t cudaMemcpy(void* destination, const void* source, size_t bytes, cudaMemcpyKind kind,
                       cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::copy({"cudaMemcpy", site}, cuda_cpu::one_row(destination, source, bytes), kind,
                        nullptr, false);
}

cudaError_t cudaMemcpyAsync(void* destination, const void* source, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::copy({"cudaMemcpyAsync", site}, cuda_cpu::one_row(destination, source, bytes),
                        kind, stream, true);
}

cudaError_t cudaMemcpyPeer(void* destination, int destination_device, const void* source,
                           int source_device, size_t bytes, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (destination_device != 0 || source_device != 0) {
    return cuda_cpu::finish(cudaErrorInvalidDevice);
  }
  return cuda_cpu::copy({"cudaMemcpyPeer", site}, cuda_cpu::one_row(destination, source, bytes),
                        cudaMemcpyDeviceToDevice, nullptr, false);
}

cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                                int source_device, size_t bytes, cudaStream_t stream,
                                cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (destination_device != 0 || source_device != 0) {
    return cuda_cpu::finish(cudaErrorInvalidDevice);
  }
  return cuda_cpu::copy({"cudaMemcpyPeerAsync", site},
                        cuda_cpu::one_row(destination, source, bytes), cudaMemcpyDeviceToDevice,
                        stream, true);
}

cudaError_t cudaMemcpy2D(void* destination, size_t destination_pitch, const void* source,
                         size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                         cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::copy_2d(
      {"cudaMemcpy2D", site},
      cuda_cpu::rows_2d(destination, destination_pitch, source, source_pitch, width, height), kind,
      nullptr, false);
}

cudaError_t cudaMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::copy_2d(
      {"cudaMemcpy2DAsync", site},
      cuda_cpu::rows_2d(destination, destination_pitch, source, source_pitch, width, height), kind,
      stream, true);
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::fill({"cudaMemset", site}, pointer, bytes, value, bytes, 1, nullptr, false);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream,
                            cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::fill({"cudaMemsetAsync", site}, pointer, bytes, value, bytes, 1, stream, true);
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height,
                         cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (width > pitch) return cuda_cpu::finish(cudaErrorInvalidValue);
  return cuda_cpu::fill({"cudaMemset2D", site}, pointer, pitch, value, width, height, nullptr,
                        false);
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (width > pitch) return cuda_cpu::finish(cudaErrorInvalidValue);
  return cuda_cpu::fill({"cudaMemset2DAsync", site}, pointer, pitch, value, width, height, stream,
                        true);
}
