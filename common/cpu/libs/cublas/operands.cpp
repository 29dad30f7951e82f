// SPDX-License-Identifier: MIT
#include "operands.h"

#include <cstdint>
#include <utility>

#include "../../engine/memory/memory.h"
#include "../../engine/memory/memory_notes.h"
#include "../../engine/state/leaving.h"
#include "../../engine/state/observer.h"
#include "../../report/diagnostics.h"
#include "../../runtime/errors.h"
#include "../../runtime/work_queues.h"

namespace cuda_cpu {
namespace {

std::string shape_text(const CublasOperand& it) {
  if (it.leading == nullptr) return format("%s is one value", it.name);
  if (it.rows == 1) {
    return format("%s has %zu elements, %s = %zu", it.name, it.columns, it.leading, it.step);
  }
  return format("%s has %zu rows and %zu columns, %s = %zu", it.name, it.rows, it.columns,
                it.leading, it.step);
}

/// The first byte of the operand and the one just past its last.
struct Extent {
  std::uintptr_t begin, end;
};

Extent extent_of(const CublasOperand& it) {
  const auto address = reinterpret_cast<std::uintptr_t>(it.data);
  const auto size = static_cast<long long>(it.element_size);
  const auto of_one = static_cast<long long>((it.columns - 1) * it.step + it.rows) * size;
  const long long last = static_cast<long long>(it.count - 1) * it.distance * size;
  return {address + static_cast<std::uintptr_t>(last < 0 ? last : 0),
          address + static_cast<std::uintptr_t>((last < 0 ? 0 : last) + of_one)};
}

bool stop_device(const CublasCall& call, std::string headline, std::vector<std::string> details,
                 std::vector<Report::Note> notes, std::string help,
                 int error = cudaErrorIllegalAddress) {
  finish(report(report_here(std::move(headline), call.site, error, std::move(details),
                            std::move(help), std::move(notes))));
  return false;
}

bool is_device_only(const void* pointer) {
  MemoryRange range;
  if (!find_live_range(pointer, &range)) return is_device_address(pointer);
  return range.space == Space::kGlobal || range.space == Space::kConstant ||
         range.space == Space::kDevice;
}

/// Tells X-ray and the race detector.
void tell_of_use(const CublasCall& call, const CublasOperand& it) {
  const auto* const begin = static_cast<const char*>(it.data);
  for (std::size_t i = 0; i < it.count; ++i) {
    const char* const one =
        begin + static_cast<long long>(i) * it.distance * static_cast<long long>(it.element_size);
    for (std::size_t column = 0; column < it.columns; ++column) {
      tell_of_range(one + column * it.step * it.element_size, it.rows * it.element_size,
                    it.is_written, call.name, call.site);
    }
  }
}

}  // namespace

cublasStatus_t refuse(const CublasCall& call, cublasStatus_t status, const std::string& why,
                      const std::string& help) {
  misuse(call.site, cudaSuccess, std::string(call.name) + ": " + why,
         {std::string("it returns ") + cublasGetStatusName(status)}, {}, help);
  return status;
}

bool is_reachable(const CublasCall& call, const CublasOperand& it) {
  if (it.rows == 0 || it.columns == 0 || it.count == 0) return true;
  const Extent extent = extent_of(it);
  const auto* const first = reinterpret_cast<const void*>(extent.begin);
  const char* const verb = it.is_written ? "writes" : "reads";
  MemoryRange range;
  if (!find_live_range(it.data, &range) || !is_kernel_accessible(it.data)) {
    MemoryRange near;
    if (is_device_address(it.data) && find_range(it.data, &near)) {
      return stop_device(call,
                         near.live ? format("%s %s outside of an allocation", call.name, verb)
                                   : format("%s uses %s, which was freed", call.name, it.name),
                         {format("%s is %p", it.name, it.data), shape_text(it)}, notes_of(near),
                         near.live ? "check the offset that was added to the pointer"
                                   : "free the memory after the last call that uses it");
    }
    return stop_device(
        call, format("a host pointer is passed to %s", call.name),
        {format("%s, %p, is no address that the device can reach", it.name, it.data)}, {},
        "allocate with cudaMalloc and copy with cublasSetMatrix, cublasSetVector or cudaMemcpy");
  }
  if (extent.begin % it.element_size != 0) {
    return stop_device(call, format("a misaligned pointer is passed to %s", call.name),
                       {format("%s, %p, is no multiple of %zu, the size of its elements", it.name,
                               it.data, it.element_size)},
                       {}, "check the offset of the pointer before the cast",
                       cudaErrorMisalignedAddress);
  }
  if (extent.begin < range.base) {
    return stop_device(
        call, format("%s %s before the start of %s", call.name, verb, it.name),
        {shape_text(it), format("the first of its %zu begins at %p", it.count, first)},
        {origin_note(range)}, "check the sign of the stride");
  }
  if (extent.end <= range.end()) return true;
  std::vector<std::string> details = {shape_text(it)};
  if (it.count > 1) {
    details.push_back(format("there are %zu of it, %lld elements apart", it.count, it.distance));
  }
  details.push_back(format(
      "that is %zu elements of %zu bytes; from the pointer to the end of the memory there are %zu",
      (extent.end - extent.begin) / it.element_size, it.element_size,
      (range.end() - extent.begin) / it.element_size));
  return stop_device(call, format("%s %s past the end of %s", call.name, verb, it.name),
                     std::move(details), {origin_note(range)},
                     it.rows == 1 ? "is the number of elements right, and the increment?"
                                  : "the leading dimension counts from column to column: "
                                    "matrices are column-major here");
}

bool is_in_its_place(const CublasCall& call, const char* name, const void* scalar,
                     std::size_t bytes, bool is_written) {
  if (scalar == nullptr) {
    refuse(call, CUBLAS_STATUS_INVALID_VALUE, format("%s is a null pointer", name));
    return false;
  }
  if (call.handle->pointers == CUBLAS_POINTER_MODE_DEVICE) {
    return is_reachable(call, {name, nullptr, scalar, bytes, 1, 1, 1, is_written});
  }
  if (!is_device_only(scalar)) return true;
  refuse(call, CUBLAS_STATUS_INVALID_VALUE,
         format("%s lies in device memory, and the handle's pointer mode is "
                "CUBLAS_POINTER_MODE_HOST",
                name),
         "pass the address of a variable of the host, or say "
         "cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE)");
  return false;
}

cublasStatus_t submit(const CublasCall& call, std::vector<CublasOperand> operands,
                      std::function<void()> work, bool wait) {
  for (const CublasOperand& it : operands) {
    if (!is_reachable(call, it)) return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  if (find_stream(call.handle->stream) == nullptr) {
    return refuse(call, CUBLAS_STATUS_EXECUTION_FAILED, "the handle's stream was destroyed");
  }
  Work item;
  item.label = {call.name, call.site};
  if (!wait) item.kind = WorkKind::kKernel;  // as a node of a graph
  item.run = [call, operands = std::move(operands), work = std::move(work)] {
    for (const CublasOperand& it : operands) {
      if (!is_reachable(call, it)) return static_cast<int>(cudaErrorIllegalAddress);  // freed since
      tell_of_use(call, it);
    }
    work();
    return 0;
  };
  const int error = submit(call.handle->stream, std::move(item), wait);
  return error == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace cuda_cpu
