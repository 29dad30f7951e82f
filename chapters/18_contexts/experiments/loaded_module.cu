// SPDX-License-Identifier: MIT
// What does it cost to load code into a context?
//
// And whose are its variables?

#include <optional>

#include "../../../common/common.cuh"
#include "households.cuh"

#if !defined(__CUDA_CPU__)

// What `nvcc -arch=compute_75 -ptx` makes of
//   __device__ unsigned calls = 0;
//   extern "C" __global__ void count_calls(unsigned* result) { *result = ++calls; }
// but for the version, so that older drivers take it as well.
const char kPtx[] = R"(
.version 6.4
.target sm_75
.address_size 64

.global .align 4 .u32 calls;

.visible .entry count_calls(
  .param .u64 count_calls_param_0
)
{
  .reg .b32   %r<3>;
  .reg .b64   %rd<3>;

  ld.param.u64   %rd1, [count_calls_param_0];
  cvta.to.global.u64   %rd2, %rd1;
  ld.global.u32   %r1, [calls];
  add.s32   %r2, %r1, 1;
  st.global.u32   [calls], %r2;
  st.global.u32   [%rd2], %r2;
  ret;
}
)";

// In the current context: loads the module, and finds its kernel by name.
struct Loaded {
  Loaded() {
    DRIVER_CHECK(cuModuleLoadData(&module, kPtx));
    DRIVER_CHECK(cuModuleGetFunction(&kernel, module, "count_calls"));
  }
  // What <<<1, 1, 0, stream>>> becomes.
  unsigned call(const Belongings& mine) const {
    CUdeviceptr result = mine.word;
    void* arguments[] = {&result};
    DRIVER_CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, mine.stream, arguments, nullptr));
    DRIVER_CHECK(cuStreamSynchronize(mine.stream));
    unsigned calls = 0;
    DRIVER_CHECK(cuMemcpyDtoH(&calls, mine.word, sizeof calls));
    return calls;
  }

  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
};

// Each context has a copy of the module, and so a count of its own: 1, 2 in one, 1 in the other.
bool contexts_count_apart(CUdevice device) {
  const CUcontext one = create_context(device);
  const Belongings of_one;
  const Loaded in_one;
  const CUcontext other = create_context(device);
  const Belongings of_other;
  const Loaded in_other;
  const unsigned first_of_other = in_other.call(of_other);
  DRIVER_CHECK(cuCtxSetCurrent(one));
  const unsigned first = in_one.call(of_one), second = in_one.call(of_one);
  DRIVER_CHECK(cuCtxDestroy(one));  // is current, so it is popped
  DRIVER_CHECK(cuCtxDestroy(other));
  return equals("first", first, 1u) && equals("second", second, 2u) &&
         equals("first of the other context", first_of_other, 1u);
}
#endif

__device__ unsigned calls_of_runtime = 0;
__global__ void count_calls(unsigned* result) { *result = ++calls_of_runtime; }

void call_by_runtime(const Belongings& mine) {
  count_calls<<<1, 1, 0, mine.stream>>>(mine.pointer());
  CUDA_CHECK_LAUNCH();
  DRIVER_CHECK(cuStreamSynchronize(mine.stream));
}

// Times `work` in a new context each time.
template <class Work>
void add(ResultTable& table, CUdevice device, const char* name, const char* summary, Work work) {
  if (!table.wants(name, summary)) return;
  std::vector<double> ms;
  bool ok = true;
  for (std::size_t sample = 0; sample <= table.opt.samples; ++sample) {
    const CUcontext context = create_context(device);
    const Belongings mine;
    const double begin = host_ms();
    ok = work(mine) && ok;
    if (sample > 0) ms.push_back(host_ms() - begin);
    DRIVER_CHECK(cuCtxDestroy(context));
  }
  table.row(name, timing_of(ms), 0, ok);
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "18_loaded_module", "what does loading code cost?", {});
  ResultTable table(opt, sizeof(unsigned));
  table.without_speedup();
  const CUdevice device = device_of(opt);
  add(table, device, "by_runtime", "a new context's first launch: the runtime loads the program",
      [](const Belongings& mine) { return call_by_runtime(mine), true; });
  add(table, device, "second_launch", "two launches of the same kernel",
      [](const Belongings& mine) { return call_by_runtime(mine), call_by_runtime(mine), true; });
#if !defined(__CUDA_CPU__)
  add(table, device, "from_ptx", "a module of 21 lines of PTX is loaded, and its kernel called",
      [](const Belongings& mine) { return Loaded().call(mine) == 1; });
  if (table.wants("counts", "the module in two contexts")) {
    table.row("counts", timing_of({0}), 0, contexts_count_apart(device));
  }
#endif
  return table.finish();
}
