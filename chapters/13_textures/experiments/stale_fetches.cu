// SPDX-License-Identifier: MIT
// What does a texture return of memory that the same kernel writes?

#include "../../../common/common.cuh"

constexpr unsigned kThreads = 256, kElements = 100 * kThreads;
constexpr int kNew = 1000000;  // added to what was there

// Every thread fetches its element, replaces it, and after the barrier wants the one that its
// neighbour has replaced: once through the texture, once by a load. A load must see the new value.
// A texture may return the old one, which it fetched before: for a launch it counts as read-only.
__global__ void replace_and_fetch(cudaTextureObject_t elements, int* memory, int* fetched,
                                  int* loaded) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int before = tex1Dfetch<int>(elements, static_cast<int>(i));
  memory[i] = before + kNew;
  __syncthreads();  // the neighbour has stored; it is a thread of this block
  const unsigned neighbour = i ^ 1;
  fetched[i] = tex1Dfetch<int>(elements, static_cast<int>(neighbour));
  loaded[i] = memory[neighbour];
}

__global__ void fetch_again(cudaTextureObject_t elements, int* fetched) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  fetched[i] = tex1Dfetch<int>(elements, static_cast<int>(i));
}

// How many of the values are old, how many new.
struct Ages {
  // `flip` is 1 where element i is the neighbour's.
  Ages(const std::vector<int>& values, const std::vector<int>& before, unsigned flip) {
    for (unsigned i = 0; i < values.size(); ++i) {
      old_values += values[i] == before[i ^ flip];
      new_values += values[i] == before[i ^ flip] + kNew;
    }
  }

  std::size_t old_values = 0, new_values = 0;
};

struct Found {
  Ages fetched, loaded, next_launch;

  // What must hold whatever the texture does.
  bool ok() const {
    return fetched.old_values + fetched.new_values == kElements && loaded.new_values == kElements &&
           next_launch.new_values == kElements;
  }
};

Found look(std::uint64_t seed) {
  const std::vector<int> before = random_ints(kElements, 0, kNew - 1, seed);
  const DeviceArray<int> memory(before), fetched(kElements), loaded(kElements), again(kElements);
  // Linear memory: fetched by index, there is nothing to set for it.
  cudaResourceDesc elements = {};
  elements.resType = cudaResourceTypeLinear;
  elements.res.linear = {memory, cudaCreateChannelDesc<int>(), memory.bytes()};
  const cudaTextureDesc no_rules = {};
  cudaTextureObject_t texture = 0;
  CUDA_CHECK(cudaCreateTextureObject(&texture, &elements, &no_rules, nullptr));
  replace_and_fetch<<<kElements / kThreads, kThreads>>>(texture, memory, fetched, loaded);
  CUDA_CHECK_LAUNCH();
  fetch_again<<<kElements / kThreads, kThreads>>>(texture, again);
  CUDA_CHECK_LAUNCH();
  const Found found = {Ages(fetched.download(), before, 1), Ages(loaded.download(), before, 1),
                       Ages(again.download(), before, 0)};
  CUDA_CHECK(cudaDestroyTextureObject(texture));
  return found;
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "13_stale_fetches", "what is fetched of what a kernel writes?", {});
  opt.expect_no_versions();
  ResultTable table(opt, 4 * kElements * sizeof(int));
  const Found found = look(opt.seed);
  const auto say = [&](const char* name, const std::string& how, const Ages& ages) {
    table.measured(name, ages.old_values, "old values", how, ": ", ages.old_values, " of ",
                   kElements, " elements old, ", ages.new_values, " new");
  };
  say("fetched", "through the texture, in the launch that wrote them", found.fetched);
  say("loaded", "by a load, in the same launch", found.loaded);
  say("next_launch", "through the texture, in the next launch", found.next_launch);
  return table.finish() == kExitOk && found.ok() ? kExitOk : kExitWrong;
}
