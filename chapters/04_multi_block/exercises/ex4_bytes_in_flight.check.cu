// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the runtime says, what the kernels ask for, and the law
#include <cmath>

#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

int threads_per_sm(int block) {
  int blocks = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_one_in_flight, block, 0));
  return blocks * block;
}

// Load requests of one launch. The sum has to be right, or the count would be of something else.
template <class Kernel>
double requests(Kernel kernel) {
  constexpr unsigned kGrid = 7, kBlock = 96;
  const std::vector<int> x = random_ints(10007, -99, 99, 1);
  const lab::Array<int> d_x(x);
  const lab::Array<long long> partial(kGrid * kBlock);
  const auto launches = xray::count([&] {
    kernel<<<kGrid, kBlock>>>(d_x.get(), x.size(), partial.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  long long expected = 0, sum = 0;
  for (const int v : x) expected += v;
  for (const long long p : partial.download()) sum += p;
  REQUIRE(sum == expected);
  return static_cast<double>(
      launches.at(0).total(xray::Space::kGlobal, xray::Operation::kLoad).requests);
}

}  // namespace

TEST_CASE("the predictions are what the runtime says, what the kernels ask for, and the law") {
  const std::string notes = "chapters/04_multi_block/README.md: ";
  const std::string places = notes + "All threads that fit";
  lab::predict("kThreadsInBlocksOf96", kThreadsInBlocksOf96, threads_per_sm(96), places);
  lab::predict("kThreadsInBlocksOf768", kThreadsInBlocksOf768, threads_per_sm(768), places);
  lab::predict("kThreadsInBlocksOf32", kThreadsInBlocksOf32, threads_per_sm(32), places);
  const std::string code = notes + "Four loads per thread";
  lab::predict("kRequestsOneInFlight", kRequestsOneInFlight, requests(sum_one_in_flight), code);
  lab::predict("kRequestsFourInFlight", kRequestsFourInFlight, requests(sum_four_in_flight), code);
  const double wanted = 350.0 * 4600, one_load_each = 132.0 * threads_per_sm(32) * 4;
  lab::predict("kLoadsToFillTheMemory", kLoadsToFillTheMemory, std::ceil(wanted / one_load_each),
               notes + "One load at a time, Little's law");
}
