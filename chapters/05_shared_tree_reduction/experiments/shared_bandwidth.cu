// SPDX-License-Identifier: MIT
// How many bytes does shared memory deliver, and how many the L1 by the same loop?
//
// shared_words, shared_quads   each lane reads 4 or 16 bytes of a tile in shared memory, neighbours
//                              side by side, over and over
// l1_words, l1_quads           the same tile where it came from, in global memory: the L1 has it
// The column "of read" compares with reading global memory, once each byte.

#include "../../../common/common.cuh"

constexpr unsigned kBlock = 1024;  // threads; two such blocks are all that an SM holds
constexpr unsigned kBlocksPerSm = 2;
constexpr unsigned kWarp = 32;
constexpr unsigned kLoads = 8;     // in a round, each of another place
constexpr unsigned kApart = 128;   // words from one load's place to the next
constexpr unsigned kFirsts = 256;  // places at which a round may begin
constexpr unsigned kTile = kFirsts + (kLoads - 1) * kApart;  // words

__host__ __device__ inline void add_to(unsigned& sum, unsigned word) { sum += word; }
__host__ __device__ inline void add_to(uint4& sum, uint4 word) {
  sum = {sum.x + word.x, sum.y + word.y, sum.z + word.z, sum.w + word.w};
}

// Where thread t begins its round r. The lanes of a warp begin at 32 neighbours: 256 is a multiple
// of 32, so that no warp reaches around the end.
__host__ __device__ inline unsigned first_of(unsigned t, unsigned round) {
  return (t + kWarp * round) % kFirsts;
}

template <class Word>
__device__ Word sum_of_rounds(const Word* tile, unsigned rounds) {
  Word sum = {};
  for (unsigned round = 0; round < rounds; ++round) {
    const Word* const first = tile + first_of(threadIdx.x, round);
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) add_to(sum, first[k * kApart]);
  }
  return sum;
}

template <class Word>
__global__ void read_shared(const Word* x, unsigned rounds, Word* sums) {
  __shared__ Word tile[kTile];
  for (unsigned k = threadIdx.x; k < kTile; k += blockDim.x) tile[k] = x[k];
  __syncthreads();  // the tile is complete before anyone reads it
  sums[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] =
      sum_of_rounds<Word>(tile, rounds);
}

template <class Word>
__global__ void read_l1(const Word* x, unsigned rounds, Word* sums) {
  sums[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] =
      sum_of_rounds<Word>(x, rounds);
}

// A tile of words of 4 or 16 bytes, and a sum of each thread.
template <class Word>
struct Reads {
  static constexpr std::size_t kNumbers = sizeof(Word) / sizeof(unsigned);  // in a word

  Reads(unsigned blocks, unsigned rounds_of_each, std::uint64_t seed)
      : grid(blocks), rounds(rounds_of_each), host_x(kTile * kNumbers) {
    for (std::size_t i = 0; i < host_x.size(); ++i)
      host_x[i] = static_cast<unsigned>(random_bits(seed, i));
    CUDA_CHECK(cudaMemcpy(x, host_x.data(), x.bytes(), cudaMemcpyHostToDevice));
  }

  double bytes_read() const { return 1.0 * grid * kBlock * rounds * kLoads * sizeof(Word); }

  void poison() const { sums.poison(); }

  // All blocks do the same, so what one block's threads find is worked out once.
  bool is_right(const std::string& version) const {
    std::vector<unsigned> of_block(kBlock * kNumbers, 0), expected;
    for (unsigned t = 0; t < kBlock; ++t) {
      for (unsigned load = 0; load < rounds * kLoads; ++load) {
        const std::size_t word = first_of(t, load / kLoads) + load % kLoads * kApart;
        for (std::size_t i = 0; i < kNumbers; ++i)
          of_block[t * kNumbers + i] += host_x[word * kNumbers + i];
      }
    }
    for (unsigned b = 0; b < grid; ++b)
      expected.insert(expected.end(), of_block.begin(), of_block.end());
    std::vector<unsigned> actual(expected.size());
    CUDA_CHECK(cudaMemcpy(actual.data(), sums, sums.bytes(), cudaMemcpyDeviceToHost));
    return all_equal(version, actual, expected);
  }

  unsigned grid, rounds;
  std::vector<unsigned> host_x;
  DeviceArray<Word> x{kTile}, sums{std::size_t{grid} * kBlock};
};

template <class Word>
const Version<Reads<Word>> kFromShared = {sizeof(Word) == 4 ? "shared_words" : "shared_quads",
                                          "from shared memory", [](const Reads<Word>& r) {
                                            read_shared<<<r.grid, kBlock>>>(r.x.get(), r.rounds,
                                                                            r.sums.get());
                                          }};

template <class Word>
const Version<Reads<Word>> kFromL1 = {
    sizeof(Word) == 4 ? "l1_words" : "l1_quads", "the same from global memory, out of the L1",
    [](const Reads<Word>& r) { read_l1<<<r.grid, kBlock>>>(r.x.get(), r.rounds, r.sums.get()); }};

template <class Word>
void add_rows(ResultTable& table, unsigned blocks, unsigned rounds) {
  const Reads<Word> reads(blocks, rounds, table.opt.seed);
  table.each_launch_does(reads.bytes_read());
  table.add(kFromShared<Word>, reads);
  table.add(kFromL1<Word>, reads);
}

int main(int argc, char** argv) {
  std::size_t rounds = kOnGpu ? 1024 : 3, read = kOnGpu ? 1_Gi : 1_Mi;
  const Options opt(argc, argv, "05_shared_bandwidth", "how many bytes does shared memory deliver?",
                    {{"rounds", &rounds, 1, 64_Ki, "of 8 loads of each thread"},
                     {"read", &read, 64, 4_Gi, "bytes of global memory to compare with"}});
  ResultTable table(opt, read);
  const double global = measured_read_gbps(read);
  table.rate_in("GB/s", "read", global);
  table.without_speedup();  // they do not all read as much
  const unsigned blocks = kBlocksPerSm * static_cast<unsigned>(table.device.multiProcessorCount);
  add_rows<unsigned>(table, blocks, static_cast<unsigned>(rounds));
  add_rows<uint4>(table, blocks, static_cast<unsigned>(rounds));
  if (kOnGpu)
    table.measured("global_read", global, "GB/s", "global memory: ", global, " GB/s, read once");
  return table.finish();
}
