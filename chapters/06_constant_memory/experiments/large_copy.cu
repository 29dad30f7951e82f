// SPDX-License-Identifier: MIT
// What becomes of a copy that is too large for its symbol?
//
// It is refused, and nothing is copied. But the error is kept, and the next check of a launch would
// blame that launch, unless the program takes it away.

#include "../../../common/common.cuh"

constexpr std::size_t kWords = 16384;  // ints in the table: 64 KiB, all there is
constexpr unsigned kBlock = 256;

__constant__ int constant_words[kWords];

// What kernels see. It does not know how large the table is: there is a thread for each word.
__global__ void read_words(int* words) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  words[i] = constant_words[i];
}

// The host writes constant memory by the name of the variable. In two halves, to show the offset:
// like the size it counts bytes.
void upload_words(const std::vector<int>& words) {
  constexpr std::size_t kHalf = sizeof(constant_words) / 2;
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, words.data(), kHalf));
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, words.data() + kWords / 2, kHalf, kHalf));
}

// One int too many. A program that can go on without the copy looks at the error instead of ending
// there. Returns whether the copy was refused.
bool try_large_copy() {
  const std::vector<int> longer(kWords + 1, -1);
  const std::size_t bytes = longer.size() * sizeof(int);
  const cudaError_t status = cudaMemcpyToSymbol(constant_words, longer.data(), bytes);
  std::printf("%zu bytes to a variable of %zu: %s: %s\n", bytes, sizeof(constant_words),
              cudaGetErrorName(status), cudaGetErrorString(status));
  CUDA_CHECK(cudaGetLastError() == status ? cudaSuccess : cudaErrorUnknown);  // and now forgotten
  return status == cudaErrorInvalidValue;
}

// Whether kernels see these words, and the host, too.
bool table_holds(const std::vector<int>& words) {
  const DeviceArray<int> seen(kWords);
  read_words<<<kWords / kBlock, kBlock>>>(seen);
  CUDA_CHECK_LAUNCH();  // no error is left for which this launch could be blamed
  std::vector<int> fetched(kWords);
  CUDA_CHECK(cudaMemcpyFromSymbol(fetched.data(), constant_words, sizeof(constant_words)));
  return all_equal("seen by a kernel", seen.download(), words) &&
         all_equal("fetched by the host", fetched, words);
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "06_large_copy", "what becomes of a copy that is too large?", {});
  opt.expect_no_versions();
  open_device(opt);
  std::vector<int> words(kWords);
  std::iota(words.begin(), words.end(), 0);
  upload_words(words);
  const bool refused = try_large_copy(), unchanged = table_holds(words);
  std::printf("%s: the table is %s\n", refused ? "handled" : "NOT REFUSED",
              unchanged ? "as it was" : "DAMAGED");
  return refused && unchanged ? kExitOk : kExitWrong;
}
