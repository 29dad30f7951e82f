// SPDX-License-Identifier: MIT
// STARTER FAILS: one block reverses n ints by way of shared memory
#include <climits>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("one block reverses n ints by way of shared memory") {
  lab::Trials()
      .sizes(
          {1000, 12288, 12289, lab::drawn(12290, 16384), 24576, lab::drawn(16385, 24575), 33, 1, 0})
      .inputs({lab::Input::kRandom})
      .diagnose("only n above 12288 fails: more than 48 KiB of shared memory for a block",
                [](const lab::Trial& trial) { return trial.n > 12288; })
      .run([](const lab::Trial& at) {
        const std::vector<int> x = random_ints(at.n, INT_MIN, INT_MAX, 7 + at.n);
        const std::vector<int> expected(x.rbegin(), x.rend());
        const lab::Array<int> d_x(x), y(at.n);
        const auto launch = [&] {
          launch_reverse(d_x.get(), static_cast<unsigned>(at.n), y.get());
        };
        lab::Copied copied;
        lab::count([&] { copied = lab::copied_by(launch, d_x, y); },
                   [&] { lab::expect_equal("y", y.download(), expected); },
                   [&](const auto& seen) {
                     const auto blocks = std::uint64_t{seen.grid.x} * seen.grid.y * seen.grid.z;
                     lab::exactly("blocks of the launch", blocks, 1);
                     lab::exactly("threads of the block", seen.block.x, kThreads);
                     lab::exactly("lanes that load from x", seen.loads().lanes, at.n,
                                  "each element is loaded once");
                     lab::exactly("lanes that store to shared memory", seen.shared_stores().lanes,
                                  at.n, "each element is held there once");
                     lab::between("bytes of shared memory of the block", seen.shared_bytes,
                                  at.n * sizeof(int), 227 * 1024,
                                  "all elements are there at the same time");
                     lab::exactly("bytes of x and y that were copied", copied.of_arrays, 0,
                                  "the kernel reads and writes them where they are");
                   });
      });
}
