// SPDX-License-Identifier: MIT
// STARTER FAILS: C is right, and copies of the next step are on their way
#include "chapters/16_tensor_cores/product.cuh"
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/matrices.cuh"
// the learner's file:
#include LAB_FILE

namespace {

/// Elements behind a row, so that the next begins at a multiple of 16 bytes.
unsigned gap_behind(std::size_t width) { return static_cast<unsigned>(16 - width % 8); }

}  // namespace

TEST_CASE("C is right, and copies of the next step are on their way") {
  const auto some = [](unsigned steps) {
    return lab::Trials::Shape{lab::drawn(1, 64), lab::drawn(1, 64), 64 * steps - lab::drawn(0, 63)};
  };
  lab::Trials()
      .shapes({{64, 64, 64}, {64, 64, 128}, {64, 64, 256}, {70, 72, 130}, some(lab::drawn(5, 9))})
      .blocks({128})
      .diagnose(
          "two steps are right, more are not: a stage is used again. What lies in it then, in "
          "which phase is its barrier, and who may still be reading it?",
          [](const lab::Trial& r) { return r.depth > 128; })
      .run([](const lab::Trial& at) {
        const std::vector<float> a = lab::quarters(at.rows * at.depth, 7);
        const std::vector<float> b = lab::quarters(at.depth * at.columns, 8);
        const Bf16Array d_a(to_bf16(a), at.rows, at.depth, gap_behind(at.depth));
        const Bf16Array d_b(to_bf16(b), at.depth, at.columns, gap_behind(at.columns));
        const lab::DeviceMatrix c(at.rows, at.columns, 3);
        const dim3 grid(static_cast<unsigned>(div_up(at.columns, 64)),
                        static_cast<unsigned>(div_up(at.rows, 64)));
        const std::size_t blocks = std::size_t{grid.x} * grid.y, steps = div_up(at.depth, 64);
        std::uint64_t last_copies = 0;
        lab::count(
            [&] {
              last_copies = lab::last_copies_waited_for([&] {
                multiply<<<grid, 128>>>(map_of(d_a.view, kBox), map_of(d_b.view, kBox), c.view(),
                                        static_cast<unsigned>(steps));
                CUDA_CHECK_LAUNCH();
              });
            },
            [&] {
              lab::expect_close(
                  "C", c.download("C"), multiply_on_host(a, b, at.rows, at.columns, at.depth),
                  [](std::size_t) { return 0.0; }, at.columns);
            },
            [&](const auto& seen) {
              lab::exactly("requests that load from global memory", seen.loads().requests, 0,
                           "bulk copies bring what is multiplied");
              lab::exactly("requests to shared memory", seen.shared().requests, 0,
                           "bulk copies fill the stages, and wgmma reads them");
              // Not where a stage is filled again: threads that go ahead may wait for the next
              // step before thread 0 begins the copies of the one behind it.
              if (steps <= 2)
                lab::at_most(
                    "pieces of 16 bytes that are waited for when no later ones are under way",
                    last_copies, blocks * 2 * 64 * 64 * sizeof(Bf16) / 16,
                    "while a step is multiplied, the copies of the next one are on their way");
              lab::at_most("barriers that a thread passes", seen.barriers_of_busiest_block,
                           steps + 1, "one in each step, and one before the first");
              lab::exactly("elements of C that are stored", seen.stores().lanes,
                           at.rows * at.columns, "each once, when its sum is complete");
            });
      });
}
