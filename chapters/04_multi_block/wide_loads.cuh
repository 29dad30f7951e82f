// SPDX-License-Identifier: MIT
// Chapter 04, two ways to more bytes in flight: more loads per thread, and wider ones. One kernel
// for every pair of both, and what its registers cost. Included by sweeps.cuh.
#pragma once

#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "shapes.cuh"

__device__ long long squares(int v) { return static_cast<long long>(v) * v; }
__device__ long long squares(const int4& v) {
  return squares(v.x) + squares(v.y) + squares(v.z) + squares(v.w);
}

// Blocks of kMaxBlock threads that an SM has places for: two where it takes 2048 threads, one where
// it takes 1024 or 1536 (compute capability 7.5, 8.6 to 8.9, 11 and later).
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 750 || __CUDA_ARCH__ >= 1100 || \
                               (__CUDA_ARCH__ >= 860 && __CUDA_ARCH__ < 900))
constexpr unsigned kMostBlocks = 1;
#else
constexpr unsigned kMostBlocks = 2;
#endif

// A Word is an int, 4 bytes, or an int4: four neighbours in one load of 16 bytes. kLoads words are
// asked for before the first is used. Their values wait in registers, so the compiler must know how
// many it may take: as many as leave room for kBlocks blocks of kMaxBlock threads on an SM. For one
// block that is 64 registers per thread, for two 32. (A chip without places for two has 64 for
// both.)
template <class Word, unsigned kLoads, unsigned kBlocks>
__global__ void __launch_bounds__(kMaxBlock, kBlocks < kMostBlocks ? kBlocks : kMostBlocks)
    sum_words(const int* x, std::size_t n, long long* partial) {
  constexpr std::size_t kInts = sizeof(Word) / sizeof(int);
  const Word* const words = reinterpret_cast<const Word*>(x);  // cudaMalloc aligns to 256 bytes
  const std::size_t count = n / kInts, stride = grid_threads();
  std::size_t i = global_index();
  long long sum = 0;
#pragma unroll 1
  for (; i + (kLoads - 1) * stride < count; i += kLoads * stride) {
    Word v[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) v[k] = words[i + k * stride];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) sum += squares(v[k]);
  }
#pragma unroll 1
  for (; i < count; i += stride) sum += squares(words[i]);  // fewer than kLoads left
  // Up to three ints stand behind the last whole int4.
  for (std::size_t k = count * kInts + global_index(); k < n; k += stride) sum += squares(x[k]);
  partial[global_index()] = sum;
}

namespace wide_loads {

// One kernel of the ladder: what one thread asks for at once, how to launch it, and what the
// runtime knows of it.
struct Ladder {
  unsigned bytes, loads, blocks;  // bytes per load, loads per thread, kBlocks
  void (*launch)(const ThreadSums& d, Shape shape);
  Shape (*wave)(Setting s);
  cudaError_t (*attributes)(cudaFuncAttributes* of_kernel);

  // "16Bx8": eight loads of 16 bytes; "/r32": with 32 registers.
  std::string name() const {
    return std::to_string(bytes) + "Bx" + std::to_string(loads) + (blocks == 1 ? "" : "/r32");
  }
};

template <class Word, unsigned kLoads, unsigned kBlocks = 1>
constexpr Ladder ladder() {
  return {sizeof(Word),
          kLoads,
          kBlocks,
          [](const ThreadSums& d, Shape shape) {
            sum_words<Word, kLoads, kBlocks>
                <<<shape.grid, shape.block>>>(d.x.get(), d.x.size(), d.partial.get());
          },
          one_wave<sum_words<Word, kLoads, kBlocks>>,
          [](cudaFuncAttributes* of_kernel) {
            return cudaFuncGetAttributes(of_kernel, sum_words<Word, kLoads, kBlocks>);
          }};
}

const Ladder kLadder[] = {
    ladder<int, 1>(),  ladder<int, 2>(),  ladder<int, 4>(),
    ladder<int, 8>(),  ladder<int4, 1>(), ladder<int4, 2>(),
    ladder<int4, 4>(), ladder<int4, 8>(), ladder<int4, 8, 2>(),
};

// What the runtime says of the kernel: registers, and how many blocks they leave room for.
void note_registers(ResultTable& table, const Ladder& l, Setting s) {
  cudaFuncAttributes of_kernel;
  CUDA_CHECK(l.attributes(&of_kernel));
  const unsigned per_sm = l.wave(s).grid / s.sm_count;
  const auto places =
      static_cast<unsigned>(device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor, 0));
  const std::string registers = std::to_string(of_kernel.numRegs);
  table.measured(l.name() + " registers", of_kernel.numRegs, "registers",
                 l.name() + ": " + registers + " registers per thread, " + std::to_string(per_sm) +
                     " blocks of " + std::to_string(s.block) + " on an SM, " +
                     std::to_string(100 * per_sm * s.block / places) +
                     " % of its places for threads");
}

// Sweep "loads": every kernel of the ladder, first with one block per SM, then with a whole wave.
void add_rows(ResultTable& table, const ThreadSums& d, Setting s) {
  for (const bool whole_wave : {false, true}) {
    for (const Ladder& l : kLadder) {
      const Shape shape = whole_wave ? l.wave(s) : one_block_per_sm(s);
      const std::string name = l.name() + " grid=" + std::to_string(shape.grid);
      add_measured_row(
          table, name, static_cast<double>(d.x.bytes()), [&] { d.partial.poison(); },
          [&] { l.launch(d, shape); }, [&] { return check(name, d, shape); });
    }
  }
  if (!kOnGpu) return;  // the CPU backend has no registers to count
  for (const Ladder& l : kLadder) note_registers(table, l, s);
}

}  // namespace wide_loads
