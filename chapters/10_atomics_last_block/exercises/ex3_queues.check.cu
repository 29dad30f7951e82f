// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the kernels ask for
#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

xray::Counts atomics(xray::Space space, const std::function<void()>& launch) {
  const auto launches = xray::count([&] {
    launch();
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  return launches.at(0).total(space, xray::Operation::kAtomic);
}

}  // namespace

TEST_CASE("the predictions are what the kernels ask for") {
  const std::string notes = "chapters/10_atomics_last_block/README.md: ";
  const lab::Array<int> x(random_ints(kN, 0, 9, 7)), sum(std::vector<int>(1, 0)),
      bins(std::vector<int>(12, 0));
  const auto requests = [](const xray::Counts& c) { return static_cast<double>(c.requests); };

  const auto elements =
      atomics(xray::Space::kGlobal, [&] { add_elements<<<kGrid, kBlock>>>(x.get(), sum.get()); });
  const auto shares = [&] { add_shares<<<kGrid, kBlock>>>(x.get(), sum.get()); };
  lab::predict("kPerElement", kPerElement, requests(elements), notes + "Add before you meet");
  lab::predict("kInSharedMemory", kInSharedMemory, requests(atomics(xray::Space::kShared, shares)),
               notes + "Add before you meet, the version shared_atomics");
  lab::predict("kPerBlock", kPerBlock, requests(atomics(xray::Space::kGlobal, shares)),
               notes + "Add before you meet");

  const auto squares = atomics(xray::Space::kGlobal, [&] { count_squares<<<1, 32>>>(bins.get()); });
  const auto remainders =
      atomics(xray::Space::kGlobal, [&] { count_remainders<<<1, 32>>>(bins.get()); });
  const std::string queue = notes + "One word for all, operations at one address";
  lab::predict("kBinsOfSquares", kBinsOfSquares, squares.per_request(squares.addresses), queue);
  lab::predict("kQueueOfSquares", kQueueOfSquares, squares.per_request(squares.collisions), queue);
  lab::predict("kQueueOfRemainders", kQueueOfRemainders,
               remainders.per_request(remainders.collisions), queue);
}
