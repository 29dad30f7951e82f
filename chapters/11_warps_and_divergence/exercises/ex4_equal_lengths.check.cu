// SPDX-License-Identifier: MIT
// STARTER FAILS: every walk ends where it should, and no lane waits for another
#include <set>

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
              1024 * lab::drawn(5, 9), 1024 * lab::drawn(10, 60), 1024 * lab::drawn(65, 70),
              lab::drawn(66000, 70000)})
      .blocks({32, 96, 32 * lab::drawn(9, 32), 256})
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
        const std::size_t whole = at.n / 1024 * 1024;
        std::size_t steps = 0, steps_of_whole = 0;
        for (std::size_t i = 0; i < at.n; ++i) {
          if (i == whole) steps_of_whole = steps;
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
              if (at.n == whole) {
                lab::at_most("requests of warps for starts and steps", seen.loads().requests,
                             (at.n + steps) / 32, "32 lanes in each of them: nobody waits");
              } else {
                // Whatever the rest does; and a warp may have walks of two lengths.
                const std::size_t of_rest = div_up(at.n - whole, 32) * 33;
                lab::at_most("requests of warps for starts and steps", seen.loads().requests,
                             (whole + steps_of_whole) / 32 + of_rest + 64,
                             "32 lanes in almost each of them: nobody waits for long");
              }
            });
      });
}

// The items of 32 neighbours in t, from first[block] on.
__global__ void items_from(const std::size_t* first, std::size_t n, std::size_t* items) {
  items[blockIdx.x * 32 + threadIdx.x] = item_of(first[blockIdx.x] + threadIdx.x, n);
}

TEST_CASE("the rule is right for as many items as a GPU has room for") {
  lab::once([] {
    // As many of each length as there are threads of whole warps. The first and the last of those
    // that have a length are neighbours of others.
    const std::size_t of_each = 32 * std::size_t{lab::drawn(8000000, 9000000)}, n = 32 * of_each;
    std::vector<std::size_t> first;
    for (std::size_t k = 0; k < 32; ++k) {
      first.push_back(k * of_each);
      first.push_back(k * of_each + 32 * std::size_t{lab::drawn(1, 7999998)});
      first.push_back((k + 1) * of_each - 32);
    }
    const lab::Array<std::size_t> d_first(first), d_items(32 * first.size());
    items_from<<<static_cast<unsigned>(first.size()), 32>>>(d_first.get(), n, d_items.get());
    CUDA_CHECK_LAUNCH();
    const std::vector<std::size_t> items = d_items.download();
    const std::string of = "of " + std::to_string(n) + " items, the one of thread ";
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string name = of + std::to_string(first[i / 32] + i % 32);
      lab::expect(items[i] < n, name, "one that there is", std::to_string(items[i]));
      lab::expect(items[i] % 32 == items[i / 32 * 32] % 32, name,
                  "as long a walk as its neighbours'",
                  "item " + std::to_string(items[i]) + ", another length");
    }
    const std::set<std::size_t> different(items.begin(), items.end());
    lab::expect_equal("different items of " + std::to_string(items.size()) + " threads",
                      different.size(), items.size());
    // Of any threads about half have such an item.
    lab::expect(*different.rbegin() >> 32 != 0, of + "any", "for some more than 2^32",
                "at most " + std::to_string(*different.rbegin()));
  });
}
