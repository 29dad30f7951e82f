// SPDX-License-Identifier: MIT
#include "launch.h"

#include <cctype>
#include <map>
#include <memory>
#include <mutex>

#include "../engine/memory/memory.h"
#include "../engine/memory/memory_notes.h"
#include "../engine/scheduling/run_grid.h"
#include "../engine/state/device_limits.h"
#include "../engine/state/leaving.h"
#include "../engine/state/settings.h"
#include "../report/diagnostics.h"
#include "../report/program_image.h"
#include "../report/text.h"
#include "capture.h"
#include "contexts.h"
#include "errors.h"
#include "functions.h"
#include "work_queues.h"

namespace cuda_cpu {
namespace {

unsigned long long product(const dim3& d) { return 1ULL * d.x * d.y * d.z; }

/// Says in words what is wrong with a launch, and returns the toolkit's code for that; 0 when all
/// is well.
int check_configuration(const LaunchConfig& config, const LaunchedKernel& launched,
                        const void* function) {
  const dim3 &grid = config.grid, &block = config.block;
  const auto refuse = [&](int error, const std::string& problem) {
    const std::string headline =
        format("kernel '%s' cannot be launched with <<<%s, %s>>>", launched.name,
               to_text(grid).c_str(), to_text(block).c_str());
    return finish(misuse({launched.file, launched.line}, error, headline, {problem}));
  };
  if (launches_are_refused()) return finish(cudaErrorLaunchOutOfResources);
  if (product(grid) == 0 || product(block) == 0) {
    const bool is_of_block = product(block) == 0;
    return refuse(cudaErrorInvalidConfiguration,
                  is_of_block ? "a dimension of the block is 0"
                              : "a dimension of the grid is 0: an integer division rounds down, so "
                                "write (n + block - 1) / block");
  }
  if (product(block) > kMaxThreadsPerBlock) {
    return refuse(cudaErrorInvalidConfiguration, format("a block of %llu threads; the limit is %u",
                                                        product(block), kMaxThreadsPerBlock));
  }
  if (block.z > kMaxBlockZ) {
    return refuse(cudaErrorInvalidConfiguration,
                  format("a block with blockDim.z = %u; the limit is %u", block.z, kMaxBlockZ));
  }
  if (grid.x > kMaxGridX || grid.y > kMaxGridY || grid.z > kMaxGridZ) {
    return refuse(cudaErrorInvalidConfiguration,
                  format("the limits of a grid are %s blocks",
                         to_text({kMaxGridX, kMaxGridY, kMaxGridZ}).c_str()));
  }
  if (find_stream(config.stream) == nullptr) {
    return refuse(cudaErrorInvalidResourceHandle,
                  "a stream that does not exist; was it destroyed before?");
  }
  const bool is_created = find_stream(config.stream) == config.stream;  // not a default stream
  if (is_created && config.stream->device != current_device()) {
    return refuse(cudaErrorInvalidResourceHandle,
                  format("the stream belongs to device %d, and device %d is the current one: "
                         "cudaSetDevice(%d) before the launch",
                         config.stream->device, current_device(), config.stream->device));
  }
  if (is_created && config.stream->context != context_rules.current()) {
    return refuse(
        cudaErrorInvalidResourceHandle,
        "the stream belongs to another context than the current one; no error is promised: "
        "an H200 takes the launch");
  }
  const std::size_t limit = dynamic_shared_limit(function);
  if (config.dynamic_shared_bytes > limit) {
    return refuse(cudaErrorInvalidValue,
                  format("%zu bytes of dynamic shared memory; the limit is %zu%s",
                         config.dynamic_shared_bytes, limit,
                         limit < kSharedPerBlockOptIn ? " without cudaFuncSetAttribute" : ""));
  }
  const int of_worker =
      resident_blocks(function, static_cast<int>(product(block)), config.dynamic_shared_bytes);
  const unsigned resident = static_cast<unsigned>(of_worker) * worker_count();
  if (config.cooperative && product(grid) > resident) {
    return refuse(cudaErrorCooperativeLaunchTooLarge,
                  format("a cooperative grid of %llu blocks; %u can be resident together",
                         product(grid), resident));
  }
  return 0;
}

Work work_of(std::shared_ptr<const GridLaunch> launch, std::shared_ptr<void> arguments) {
  Work work;
  work.kind = WorkKind::kKernel;
  work.label = {"kernel", Site{launch->kernel.file, launch->kernel.line}, launch->kernel.name};
  work.run = [launch, arguments] {
    mark_shared_pointers();
    int failure = run_grid(*launch);
    restore_shared_pointers();
    if (failure == 0) failure = check_slack(launch->kernel);
    return failure;
  };
  work.launch = std::move(launch);
  work.arguments = std::move(arguments);
  return work;
}

/// "scale" of "shapes::scale<float>": no namespaces, no template arguments.
std::string short_name(const std::string& name) {
  const std::string base = name.substr(0, name.find('<'));
  const std::size_t colon = base.rfind(':');
  return colon == std::string::npos ? base : base.substr(colon + 1);
}

/// "tile<16>" of "tile<16u>": as a launch writes it.
std::string without_suffixes(const std::string& name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool behind_digit = i > 0 && std::isdigit(static_cast<unsigned char>(name[i - 1])) != 0;
    const bool before_end = i + 1 < name.size() && (name[i + 1] == ',' || name[i + 1] == '>');
    if (name[i] != 'u' || !behind_digit || !before_end) text += name[i];
  }
  return text;
}

}  // namespace

LaunchedKernel with_own_name(LaunchedKernel launched, const void* function) {
  static std::mutex mutex;
  static std::map<std::pair<const void*, std::string>, const char*> names;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [known, is_new] = names.try_emplace({function, launched.name}, launched.name);
  if (is_new && function != nullptr) {
    const std::string own = function_name(function, launched.name);
    if (short_name(own) != short_name(launched.name)) known->second = intern(without_suffixes(own));
  }
  launched.name = known->second;
  return launched;
}

int enqueue_grid(const LaunchConfig& config, const LaunchedKernel& launched,
                 const KernelCall& call) {
  std::shared_ptr<void> owner;
  if (call.destroy != nullptr) owner.reset(call.closure, call.destroy);
  if (in_kernel())
    die("%s:%d: a kernel launches a kernel; that is not supported", launched.file, launched.line);
  if (const int error = check_configuration(config, launched, call.function)) {
    return error;
  }
  const auto launch = std::make_shared<GridLaunch>();
  launch->kernel = launched;
  launch->grid = config.grid;
  launch->block = config.block;
  launch->dynamic_shared_bytes = config.dynamic_shared_bytes;
  launch->device = current_device();
  launch->cooperative = config.cooperative;
  launch->may_start_early = config.may_start_early;
  launch->body = call.body;
  launch->closure = call.closure;
  launch->function = call.function;
  if (call.arguments != nullptr) {
    launch->arguments = call.arguments->text;
    launch->arguments_hash = call.arguments->hash;
  }
  return finish(submit(config.stream, work_of(launch, std::move(owner))));
}

int relaunch(const Work& work, LaunchConfig config, Site site, Work* made) {
  auto launch = std::make_shared<GridLaunch>(*work.launch);
  launch->grid = config.grid;
  launch->block = config.block;
  launch->dynamic_shared_bytes = config.dynamic_shared_bytes;
  launch->kernel.file = site.file;
  launch->kernel.line = site.line;
  config.cooperative = launch->cooperative;
  if (const int error = check_configuration(config, launch->kernel, launch->function)) return error;
  *made = work_of(std::move(launch), work.arguments);
  return 0;
}

int run_grid_now(const LaunchConfig& config, const LaunchedKernel& launched,
                 const KernelCall& call) {
  if (const int error = capture_rules.unsupported(
          config.stream, "a launch with arguments in braces, or a literal 0 for a pointer")) {
    return finish(error);
  }
  if (const int error = enqueue_grid(config, launched, call)) return error;
  return run_stream(config.stream);
}

ArgumentText::ArgumentText() = default;
ArgumentText::~ArgumentText() = default;

void ArgumentText::show(const std::string& argument) {
  if (!text.empty()) text += ", ";
  text += argument;
}

void ArgumentText::add_pointer(const void* pointer) {
  show("*");
  MemoryRange range;
  if (pointer == nullptr || !find_live_range(pointer, &range)) return;
  // Another array makes another launch where its memory differs in kind or size.
  add_bytes(&range.space, sizeof(range.space));
  add_bytes(&range.size, sizeof(range.size));
  if (range.space == Space::kHostPinned || range.space == Space::kHostRegistered) text += "host";
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(pointer) - range.base;
  if (offset != 0) text += format("+%zu", static_cast<std::size_t>(offset));
}

void ArgumentText::add_number(double value) {
  show(format("%g", value));
  add_bytes(&value, sizeof(value));
}

void ArgumentText::add_signed(long long value) { show(std::to_string(value)); }

void ArgumentText::add_unsigned(unsigned long long value) { show(std::to_string(value)); }

void ArgumentText::add_other(const void* bytes, std::size_t count) {
  show("..");
  if (bytes != nullptr) add_bytes(bytes, count);
}

void ArgumentText::add_bytes(const void* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211u;
  }
}

bool check_pointer_argument(const LaunchedKernel& launched, std::size_t position,
                            const void* pointer, std::size_t alignment, bool is_reference) {
  // A freed device pointer passes: the access itself is reported, with more to say.
  const bool can_be_reached = is_kernel_accessible(pointer) || is_device_address(pointer);
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
  MemoryRange range;
  const bool is_allocated =
      pointer != nullptr && find_live_range(pointer, &range) && range.space == Space::kGlobal;
  const bool is_out_of_reach =
      is_allocated && (reachable_from(current_device()) & only(range.device)) == 0;
  const bool is_of_another = is_allocated && range.device == current_device() &&
                             range.pool == nullptr && range.context != nullptr &&
                             range.context != context_rules.current();
  if (can_be_reached && is_aligned && !is_of_another && !is_out_of_reach) return true;
  const std::string argument = format("argument %zu, %p, ", position + 1, pointer);
  Report r = report_here("", {launched.file, launched.line}, cudaErrorIllegalAddress);
  if (is_reference && !can_be_reached) {
    r.headline = format("a reference to the host's memory is passed to kernel '%s'", launched.name);
    r.details = {format("argument %zu lies at %p, which is no address that kernels can reach",
                        position + 1, pointer)};
    r.help = "pass it by value, or refer to managed memory";
  } else if (is_out_of_reach) {
    r.headline = format("memory of device %d is passed to kernel '%s' on device %d", range.device,
                        launched.name, current_device());
    r.details = {argument + format("was allocated while device %d was current", range.device)};
    r.notes = {origin_note(range)};
    r.help =
        format("cudaSetDevice(%d) before the launch, a copy, or cudaDeviceEnablePeerAccess(%d, 0)",
               range.device, range.device);
  } else if (is_of_another) {
    r.headline = format("memory of another context is passed to kernel '%s'", launched.name);
    r.details = {argument + "was allocated while another context was current",
                 "no error is promised: an H200 lets such a kernel run to its end"};
    r.notes = {origin_note(range)};
    r.help = "make the context current that owns the memory, or copy from one to the other";
  } else if (can_be_reached) {
    r.headline = format("a misaligned pointer is passed to kernel '%s'", launched.name);
    r.details = {argument + format("is no multiple of %zu, the alignment of its type", alignment)};
    r.help = "check the offset of the pointer before the cast";
    r.cuda_error = cudaErrorMisalignedAddress;
  } else {
    r.headline = format("a host pointer is passed to kernel '%s'", launched.name);
    r.details = {argument + "is no address that kernels can reach"};
    r.help =
        "allocate with cudaMalloc and copy with cudaMemcpy, or use cudaMallocHost or "
        "cudaMallocManaged";
  }
  finish(report(r));
  return false;
}

}  // namespace cuda_cpu
