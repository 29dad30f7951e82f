// SPDX-License-Identifier: MIT
// Kernels whose lanes part in different ways. Every line that ends with `// multiply-add` makes one
// instruction of the double-precision unit, so a GPU's counters for that unit tell how often warps
// go through these lines, and with how many lanes. The innermost loops are not unrolled, so that
// nvcc makes branches of all.
#pragma once

namespace branch_patterns {

// The number of turns of the innermost loops, as an argument: nvcc must not know it.
__global__ void by_block(double* out, int turns) {
  double v = out[threadIdx.x];
  if (blockIdx.x % 2 == 0) {
#pragma unroll 1
    for (int k = 0; k < turns; ++k) {
      v = v * 1.5 + 1.25;  // multiply-add
    }
  } else {
#pragma unroll 1
    for (int k = 0; k < turns; ++k) {
      v = v * 1.75 + 2.25;  // multiply-add
    }
  }
  out[threadIdx.x] = v;
}

// Neighbouring groups of so many lanes take different ways: 32 is a branch by warp.
__global__ void by_group(double* out, int turns, int lanes) {
  double v = out[threadIdx.x];
  if (threadIdx.x / static_cast<unsigned>(lanes) % 2 == 0) {
#pragma unroll 1
    for (int k = 0; k < turns; ++k) {
      v = v * 1.5 + 1.25;  // multiply-add
    }
  } else {
#pragma unroll 1
    for (int k = 0; k < turns; ++k) {
      v = v * 1.75 + 2.25;  // multiply-add
    }
  }
  out[threadIdx.x] = v;
}

// clang-format off
#define BRANCH_PATTERNS_PATH(number)              \
  case number: {                                  \
    _Pragma("unroll 1")                           \
    for (int k = 0; k < turns; ++k) v = v * (1.25 + number / 64.0) + (number + 1);  \
    break;                                        \
  }

// Lane k takes path k % paths.
__global__ void by_switch(double* out, int turns, int paths) {
  double v = out[threadIdx.x];
  switch (threadIdx.x % static_cast<unsigned>(paths)) {
    BRANCH_PATTERNS_PATH(0)   // multiply-add
    BRANCH_PATTERNS_PATH(1)   // multiply-add
    BRANCH_PATTERNS_PATH(2)   // multiply-add
    BRANCH_PATTERNS_PATH(3)   // multiply-add
    BRANCH_PATTERNS_PATH(4)   // multiply-add
    BRANCH_PATTERNS_PATH(5)   // multiply-add
    BRANCH_PATTERNS_PATH(6)   // multiply-add
    BRANCH_PATTERNS_PATH(7)   // multiply-add
    BRANCH_PATTERNS_PATH(8)   // multiply-add
    BRANCH_PATTERNS_PATH(9)   // multiply-add
    BRANCH_PATTERNS_PATH(10)  // multiply-add
    BRANCH_PATTERNS_PATH(11)  // multiply-add
    BRANCH_PATTERNS_PATH(12)  // multiply-add
    BRANCH_PATTERNS_PATH(13)  // multiply-add
    BRANCH_PATTERNS_PATH(14)  // multiply-add
    BRANCH_PATTERNS_PATH(15)  // multiply-add
    BRANCH_PATTERNS_PATH(16)  // multiply-add
    BRANCH_PATTERNS_PATH(17)  // multiply-add
    BRANCH_PATTERNS_PATH(18)  // multiply-add
    BRANCH_PATTERNS_PATH(19)  // multiply-add
    BRANCH_PATTERNS_PATH(20)  // multiply-add
    BRANCH_PATTERNS_PATH(21)  // multiply-add
    BRANCH_PATTERNS_PATH(22)  // multiply-add
    BRANCH_PATTERNS_PATH(23)  // multiply-add
    BRANCH_PATTERNS_PATH(24)  // multiply-add
    BRANCH_PATTERNS_PATH(25)  // multiply-add
    BRANCH_PATTERNS_PATH(26)  // multiply-add
    BRANCH_PATTERNS_PATH(27)  // multiply-add
    BRANCH_PATTERNS_PATH(28)  // multiply-add
    BRANCH_PATTERNS_PATH(29)  // multiply-add
    BRANCH_PATTERNS_PATH(30)  // multiply-add
    BRANCH_PATTERNS_PATH(31)  // multiply-add
  }
  out[threadIdx.x] = v;
}
#undef BRANCH_PATTERNS_PATH
// clang-format on

// Lane k goes round k % longest + 1 times.
__global__ void uneven_loop(double* out, int longest) {
  double v = out[threadIdx.x];
  const int mine = static_cast<int>(threadIdx.x) % longest + 1;
#pragma unroll 1
  for (int k = 0; k < mine; ++k) {
    v = v * 1.5 + 1.25;  // multiply-add
  }
  out[threadIdx.x] = v;
}

// In each turn every `each`-th lane works, another one the next time.
__global__ void some_work_in_turn(double* out, int turns, int each) {
  double v = out[threadIdx.x];
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    if ((static_cast<int>(threadIdx.x) + turn) % each == 0) {
#pragma unroll 1
      for (int k = 0; k < turns; ++k) {
        v = v * 1.5 + 1.25;  // multiply-add
      }
    }
  }
  out[threadIdx.x] = v;
}

// A branch in a branch: four ways, or three where the inner one has no else.
template <bool kElse>
__global__ void nested(double* out, int turns) {
  double v = out[threadIdx.x];
  if (threadIdx.x % 2 == 0) {
    if (threadIdx.x % 4 == 0) {
#pragma unroll 1
      for (int k = 0; k < turns; ++k) {
        v = v * 1.5 + 1.25;  // multiply-add
      }
    } else if (kElse) {
#pragma unroll 1
      for (int k = 0; k < turns; ++k) {
        v = v * 1.75 + 1.125;  // multiply-add
      }
    }
  } else {
#pragma unroll 1
    for (int k = 0; k < turns; ++k) {
      v = v * 1.625 + 1.5;  // multiply-add
    }
  }
#pragma unroll 1
  for (int k = 0; k < turns; ++k) {
    v = v * 1.375 + 1.75;  // multiply-add
  }
  out[threadIdx.x] = v;
}

// Lanes from `first` on end at once; the others meet nobody else.
__global__ void early_end(double* out, int turns, int first) {
  if (static_cast<int>(threadIdx.x) >= first) return;
  double v = out[threadIdx.x];
#pragma unroll 1
  for (int k = 0; k < turns; ++k) {
    v = v * 1.5 + 1.25;  // multiply-add
  }
  out[threadIdx.x] = v;
}

// Each lane leaves the loop in a turn of its own, by a break.
__global__ void leaves_by_break(double* out, int turns) {
  double v = out[threadIdx.x];
#pragma unroll 1
  for (int k = 0; k < turns; ++k) {
    v = v * 1.5 + 1.25;  // multiply-add
    if (static_cast<int>(threadIdx.x * 7 % 32) == k) break;
    v = v * 1.25 + 1.75;  // multiply-add
  }
  out[threadIdx.x] = v;
}

// So short that nvcc makes no branch of it: all lanes execute it, a half of them without effect.
__global__ void predicated(double* out) {
  double v = out[threadIdx.x];
  if (threadIdx.x % 2 == 0) {
    v = v * 1.5 + 1.25;  // multiply-add
  }
  out[threadIdx.x] = v;
}

constexpr int kBlock = 64;

// All that was measured: calls run(name, parameter, launch).
template <class Run>
void all(double* out, Run run) {
  run("by_block", 0, [=] { by_block<<<2, kBlock>>>(out, 3); });
  for (const int lanes : {1, 2, 4, 8, 16, 32}) {
    run("by_group", lanes, [=] { by_group<<<1, kBlock>>>(out, 3, lanes); });
  }
  for (const int paths : {1, 2, 3, 4, 8, 16, 32}) {
    run("by_switch", paths, [=] { by_switch<<<1, kBlock>>>(out, 3, paths); });
  }
  for (const int longest : {1, 2, 3, 8, 32}) {
    run("uneven_loop", longest, [=] { uneven_loop<<<1, kBlock>>>(out, longest); });
  }
  for (const int each : {1, 2, 5, 32}) {
    run("some_work_in_turn", each, [=] { some_work_in_turn<<<1, kBlock>>>(out, 4, each); });
  }
  run("nested_else", 0, [=] { nested<true><<<1, kBlock>>>(out, 3); });
  run("nested", 0, [=] { nested<false><<<1, kBlock>>>(out, 3); });
  for (const int first : {1, 16, 20, 40, 64}) {
    run("early_end", first, [=] { early_end<<<1, kBlock>>>(out, 3, first); });
  }
  for (const int turns : {4, 40}) {
    run("leaves_by_break", turns, [=] { leaves_by_break<<<1, kBlock>>>(out, turns); });
  }
  run("predicated", 0, [=] { predicated<<<1, kBlock>>>(out); });
}

}  // namespace branch_patterns
