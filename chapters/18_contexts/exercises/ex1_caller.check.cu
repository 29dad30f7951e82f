// SPDX-License-Identifier: MIT
// STARTER FAILS: the caller's stack is as it was
#include <cuda.h>

#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

#include "common/labs/stacks.cuh"

namespace {

// Looks whose the memory is.
Look owned_by(CUcontext context) {
  return [context](CUdeviceptr d_x) {
    CUcontext owner = nullptr;
    cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, d_x);
    lab::expect(owner == context, "the owner of the memory", "the library's context", "another");
  };
}

// Calls with a stack of these contexts, the last one on top.
void try_stack(const lab::Contexts& there_are, CUcontext of_library,
               const std::vector<CUcontext>& stack, std::size_t n) {
  const std::vector<int> x = random_ints(n, -1000, 1000, n);
  std::vector<int> expected(n);
  for (std::size_t i = 0; i < n; ++i) expected[i] = 2 * x[i];
  const lab::Stack before(stack);
  const double free_before = there_are.free_bytes();
  const std::vector<int> y = doubled(of_library, x, owned_by(of_library));
  before.expect_same();
  lab::expect_equal("the result", y, expected);
  lab::expect(kOnGpu || there_are.free_bytes() == free_before, "the device's memory afterwards",
              "as much is free as before", "less");
}

}  // namespace

TEST_CASE("the caller's stack is as it was") {
  lab::Trials()
      .sizes({1, 255, 256, 257, 1000, lab::drawn(1001, 3000)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const lab::Contexts made(3);
        const CUcontext of_library = made[0], a = made[1], b = made[2];
        const std::vector<std::vector<CUcontext>> stacks = {
            {a}, {a, b}, {}, {of_library}, {of_library, a}, {a, of_library}, {b, a, a}};
        for (const auto& stack : stacks) try_stack(made, of_library, stack, at.n);
      });
}

TEST_CASE("a current context that nobody can work in stays current") {
  lab::Trials()
      .sizes({lab::drawn(2, 500)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const lab::Contexts made(1);
        const std::vector<int> x = random_ints(at.n, -1000, 1000, 8);
        // The caller's own context is still current here, but nobody can work in it: another host
        // thread has destroyed it.
        const CUcontext gone = lab::destroyed_while_current();
        const std::vector<int> y = doubled(made[0], x, owned_by(made[0]));
        CUcontext current = nullptr;
        lab::driver(cuCtxGetCurrent(&current), "cuCtxGetCurrent");
        lab::driver(cuCtxPopCurrent(nullptr), "cuCtxPopCurrent");
        for (std::size_t i = 0; i < at.n; ++i) lab::expect_equal("the result", y.at(i), 2 * x[i]);
        lab::expect(current == gone, "the caller's current context", "the one from before",
                    "another");
      });
}
