// SPDX-License-Identifier: MIT
// STARTER FAILS: the product of all numbers arrives, whoever comes between
#include <algorithm>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("the product of all numbers arrives, whoever comes between") {
  lab::Trials()
      .sizes({1, 2, 31, 33, 64, 127, 200, lab::drawn(500, 1500), 0, lab::drawn(66000, 70000)})
      .blocks({1, 31, lab::drawn(65, 200), 64})
      .inputs({lab::Input::kRandom, lab::Input::kIndices, lab::Input::kNegative})
      .diagnose(
          "one thread is right, several are not: what if another one stores between your "
          "read and your write?",
          [](const lab::Trial& r) { return r.block > 1 && r.n > 1; })
      .diagnose("a single number is right, several are not: is any of them lost on the way?",
                [](const lab::Trial& r) { return r.n > 1; })
      .run([](const lab::Trial& at) {
        const unsigned grid = at.n % 2 == 0 ? 2 : lab::drawn(1, at.block > 31 ? 4 : 20);
        std::vector<unsigned> x(at.n);
        // In place of negative numbers a 0: before, or one of the numbers.
        const bool has_zero = at.input == lab::Input::kNegative && at.n > 0;
        const unsigned before = has_zero && at.block == 1 ? 0 : lab::drawn(2, 65520);
        const std::size_t zero =
            has_zero && at.block > 1 ? lab::drawn(0, static_cast<unsigned>(at.n) - 1) : at.n;
        unsigned long long expected = before;
        std::size_t changing = 0;  // numbers that are not 1
        for (std::size_t i = 0; i < at.n; ++i) {
          const auto bits = at.input == lab::Input::kIndices ? 2 * i : random_bits(3, i);
          x[i] = i == zero ? 0 : static_cast<unsigned>(1 + bits % 65520);
          expected = expected * x[i] % 65521;
          if (x[i] != 1) ++changing;
        }

        const lab::Array<unsigned> d_x(x), product(std::vector<unsigned>{before});
        lab::count(
            [&] {
              multiply_all<<<grid, at.block>>>(d_x.get(), at.n, product.get());
              CUDA_CHECK_LAUNCH();
            },
            [&] {
              lab::expect_equal("*product", product.download()[0], static_cast<unsigned>(expected));
            },
            [&](const auto& seen) {
              using Seen = std::decay_t<decltype(seen)>;
              const auto inside_times =
                  seen.total(Seen::Space::kGlobal, Seen::Operation::kAtomic, "always_0").lanes;
              const std::size_t threads = grid * at.block, busy = std::min(threads, changing);
              // One that succeeds makes each of the others try again, at most.
              lab::between("atomics on *product", seen.atomics().lanes - inside_times, busy,
                           threads * (threads + 1) + threads,
                           "each thread brings one product, and tries until it is in time");
              lab::at_most("lanes that load from x", seen.loads().lanes, at.n + threads,
                           "each number is loaded once");
              const std::size_t warps = grid * div_up(at.block, 32), turns = div_up(at.n, threads);
              // A loop that takes several numbers a turn makes up to three requests more, and who
              // looks at the word first makes one.
              lab::at_most("loads, counting a warp's 32 threads as one", seen.loads().requests,
                           warps * (turns + 4), "all threads share the work");
              lab::at_most("numbers that one thread loads",
                           seen.bytes_loaded_by_busiest_thread() / sizeof(unsigned), turns + 1,
                           "those of its own share, and perhaps a first look at the word");
              lab::exactly("requests to shared memory", seen.shared().requests, 0,
                           "every thread brings its product itself");
              lab::exactly("shuffles and votes of one thread", seen.exchanges_of_busiest_thread, 0,
                           "every thread brings its product itself");
            });
      });
}

TEST_CASE("more than 2^16 threads share the numbers") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const unsigned grid = lab::drawn(65600, 66000);
    // Few that change the product: nobody has to try again for one that does not.
    std::vector<unsigned> x(2 * grid + lab::drawn(2, 999), 1);
    unsigned long long expected = 7;
    for (std::size_t i = lab::drawn(0, 500); i < x.size(); i += lab::drawn(200, 2000)) {
      x[i] = lab::drawn(2, 65520);
      expected = expected * x[i] % 65521;
    }
    const lab::Array<unsigned> d_x(x), product(std::vector<unsigned>{7});
    lab::count(
        [&] {
          multiply_all<<<grid, 1>>>(d_x.get(), x.size(), product.get());
          CUDA_CHECK_LAUNCH();
        },
        [&] {
          lab::expect_equal("*product of " + std::to_string(x.size()) + " numbers, by " +
                                std::to_string(grid) + " blocks of one thread",
                            product.download()[0], static_cast<unsigned>(expected));
        },
        [&](const auto& seen) {
          lab::at_most("numbers that one thread loads",
                       seen.bytes_loaded_by_busiest_thread() / sizeof(unsigned),
                       div_up(x.size(), grid) + 1, "those of its own share");
        });
  });
}

namespace {

// Half of the threads multiply, the others watch the word by an atomic.
__global__ void times_and_watch(unsigned* word, unsigned* seen) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 2 == 0) {
    atomic_times(word, 3);
  } else {
    times(1, 1);
    seen[i / 2] = atomicAdd(word, 0u);
  }
}

// One of two threads multiplies by 3. The other one doubles the word so often, each time before the
// first has tried again: it comes too late every time, until the other one is done.
__global__ void times_and_double(unsigned* word, unsigned doublings, unsigned* seen) {
  if (threadIdx.x == 0) return atomic_times(word, 3);
  unsigned last = atomicAdd(word, 0u);
  while (doublings > 0) {
    const unsigned now = atomicCAS(word, last, last * 2 % kPrime);
    if (now == last) {
      last = last * 2 % kPrime;
      --doublings;
    } else {
      seen[0] = last * 3 % kPrime, seen[1] = now;
      last = now;
    }
    __nanosleep(20);  // the other one's turn
  }
}

}  // namespace

TEST_CASE("whoever looks meanwhile sees a product") {
  lab::Trials().blocks({2, 32, 64, 256}).inputs({lab::Input::kRandom}).run([](const auto& at) {
    std::vector<unsigned> products = {5};  // before the first thread has multiplied, after it, ...
    while (products.size() <= at.block) products.push_back(products.back() * 3 % kPrime);

    const lab::Array<unsigned> word(std::vector<unsigned>{5}), seen(at.block);
    times_and_watch<<<2, at.block>>>(word.get(), seen.get());
    CUDA_CHECK_LAUNCH();
    lab::expect_equal("*word, which was 5, after atomic_times(word, 3) by so many threads",
                      word.download()[0], products.back());
    for (const unsigned v : seen.download()) {
      lab::expect(std::find(products.begin(), products.end(), v) != products.end(),
                  "*word, seen by an atomic of another thread", "5 times 3 times 3 ...",
                  std::to_string(v));
    }
  });
}

TEST_CASE("whoever comes too late very often is in time in the end") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const unsigned doublings = lab::drawn(200000, 300000);
    unsigned expected = 5 * 3;
    for (unsigned i = 0; i < doublings; ++i) expected = expected * 2 % kPrime;
    const lab::Array<unsigned> word(std::vector<unsigned>{5}), seen(std::vector<unsigned>{0, 0});
    times_and_double<<<1, 2>>>(word.get(), doublings, seen.get());
    CUDA_CHECK_LAUNCH();
    lab::expect_equal("*word, which was 5, after one atomic_times(word, 3) and " +
                          std::to_string(doublings) + " doublings by another thread",
                      word.download()[0], expected);
    const std::vector<unsigned> values = seen.download();
    lab::expect_equal("*word, seen by the other thread", values[1], values[0]);
  });
}
