// SPDX-License-Identifier: MIT
// STARTER FAILS: every walk ends where it should, and no lane waits for another
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

// How many threads take each item, by the learner's rule.
__global__ void note_items(std::size_t n, unsigned* takers) {
  const std::size_t t = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t i = item_of(t, n);
  if (i < n) atomicAdd(&takers[i], 1u);
}

TEST_CASE("every walk ends where it should, and no lane waits for another") {
  constexpr unsigned kPlaces = 200;
  lab::Trials()
      .sizes({1024, 2048, 1000, 33, 31, 1, lab::drawn(1025, 4000), 1024 * lab::drawn(3, 4), 0,
              1024 * lab::drawn(5, 9), lab::drawn(66000, 70000)})
      .blocks({32, 96, 256})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const auto places_of = [](std::size_t n, unsigned seed) {
          std::vector<unsigned> places;
          for (const int p : random_ints(n, 0, kPlaces - 1, seed))
            places.push_back(static_cast<unsigned>(p));
          return places;
        };
        const std::vector<unsigned> table = places_of(kPlaces, 3), start = places_of(at.n, 4);
        std::vector<unsigned> expected = start;
        std::size_t steps = 0;
        for (std::size_t i = 0; i < at.n; ++i) {
          for (std::size_t k = 0; k <= i % 32; ++k, ++steps) expected[i] = table[expected[i]];
        }

        const std::size_t threads = std::max<std::size_t>(1, div_up(at.n, 32)) * 32;
        const auto blocks = static_cast<unsigned>(div_up(threads, at.block));
        const lab::Array<unsigned> takers(std::vector<unsigned>(at.n, 0));
        note_items<<<blocks, at.block>>>(at.n, takers.get());
        CUDA_CHECK_LAUNCH();
        lab::expect_equal("threads that take item i: number", takers.download(),
                          std::vector<unsigned>(at.n, 1));

        const lab::Array<unsigned> d_table(table), d_start(start), end(at.n);
        lab::count(
            [&] {
              walk<<<blocks, at.block>>>(d_table.get(), d_start.get(), at.n, end.get());
              CUDA_CHECK_LAUNCH();
            },
            [&] { lab::expect_equal("end", end.download(), expected); },
            [&](const auto& seen) {
              lab::exactly("lanes that load", seen.loads().lanes, at.n + steps,
                           "one for each start and each step");
              if (at.n % 1024 == 0) {
                lab::at_most("requests of warps for starts and steps", seen.loads().requests,
                             (at.n + steps) / 32, "32 lanes in each of them: nobody waits");
              }
            });
      });
}
