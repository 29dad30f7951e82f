// SPDX-License-Identifier: MIT
// Where and when does each block of a launch run?

#include "../../../common/common.cuh"

// This thread's number in the whole grid, and how many there are. Widened before multiplying: the
// product of two unsigned ints wraps at 2^32.
__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t grid_threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

// The grid-stride loop of the chapter's program: one load in flight per thread.
__device__ long long sum_of_share(const int* x, std::size_t n) {
  long long sum = 0;
#pragma unroll 1
  for (std::size_t i = global_index(); i < n; i += grid_threads()) {
    sum += static_cast<long long>(x[i]) * x[i];
  }
  return sum;
}

// The multiprocessor that the calling thread runs on, from 0: PTX %smid, for which C++ has no name.
__device__ unsigned sm_id() {
#ifdef __CUDA_CPU__
  return cuda_cpu::sm_id();
#else
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
#endif
}

struct BlockRecord {
  unsigned sm;
  std::uint64_t start_ns, end_ns;      // by the clock that all SMs share
  long long start_cycles, end_cycles;  // by the counter of the block's own SM
};

// Each block notes where and when it runs, by both clocks.
__global__ void sum_recorded(const int* x, std::size_t n, long long* partial,
                             BlockRecord* records) {
  BlockRecord& record = records[blockIdx.x];
  if (threadIdx.x == 0) {
    record.sm = sm_id();
    record.start_ns = global_timer_ns();
    record.start_cycles = clock64();
  }
  __syncthreads();  // no warp loads anything before the start is noted
  partial[global_index()] = sum_of_share(x, n);
  __syncthreads();  // the block ends when its slowest warp does
  if (threadIdx.x == 0) {
    record.end_cycles = clock64();
    record.end_ns = global_timer_ns();
  }
}

std::vector<BlockRecord> record_blocks(const std::vector<int>& x, unsigned grid, unsigned block) {
  const DeviceArray<int> d_x(x);
  const DeviceArray<long long> partial(std::size_t{grid} * block);
  const DeviceArray<BlockRecord> records(grid);
  for (int repeat = 0; repeat < 2; ++repeat) {  // the first launch warms up
    sum_recorded<<<grid, block>>>(d_x, x.size(), partial, records);
    CUDA_CHECK_LAUNCH();
  }
  const std::vector<long long> sums = partial.download();
  if (!equals("sum", std::accumulate(sums.begin(), sums.end(), 0LL),
              std::inner_product(x.begin(), x.end(), x.begin(), 0LL)))
    std::exit(kExitWrong);
  return records.download();
}

// A line per SM: how many of its blocks run at a time, nine for more, while time goes from left to
// right. In front the reading of the SM's own counter when its first block began.
void draw(const std::vector<BlockRecord>& blocks, std::uint64_t first_ns, std::uint64_t end_ns) {
  constexpr std::uint64_t kColumns = 64;
  const std::uint64_t column_ns = (end_ns - first_ns) / kColumns + 1;
  std::vector<std::string> running;
  std::vector<long long> counter;
  for (const BlockRecord& b : blocks) {
    running.resize(std::max<std::size_t>(running.size(), b.sm + 1), std::string(kColumns, '.'));
    counter.resize(running.size(), -1);
    if (counter[b.sm] == -1 || b.start_cycles < counter[b.sm]) counter[b.sm] = b.start_cycles;
    for (std::uint64_t k = (b.start_ns - first_ns) / column_ns;
         k <= (b.end_ns - first_ns) / column_ns; ++k) {
      char& count = running[b.sm][k];
      count = count == '.' ? '1' : std::min<char>(count + 1, '9');
    }
  }
  for (std::size_t sm = 0; sm < running.size(); ++sm)
    if (counter[sm] != -1)
      std::printf("SM %3zu, cycle %18lld  %s\n", sm, counter[sm], running[sm].c_str());
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000, block = 1024, grid = 0;
  const Options opt(argc, argv, "04_blocks_over_time", "where and when does each block run?",
                    {{"n", &n, 1, 1_Gi, "ints to sum"},
                     {"block", &block, 1, 1024, "threads per block"},
                     {"grid", &grid, 1, 1_Mi, "blocks [two and a half waves]"}});
  const Device device = open_device(opt);
  const unsigned wave = blocks_held(sum_recorded, block);
  if (grid == 0) grid = wave * 5 / 2;
  const std::vector<BlockRecord> blocks =
      record_blocks(random_ints(n, 0, 9, opt.seed), grid, block);
  std::uint64_t first_ns = blocks[0].start_ns, end_ns = 0;
  for (const BlockRecord& b : blocks) {
    first_ns = std::min(first_ns, b.start_ns);
    end_ns = std::max(end_ns, b.end_ns);
  }
  std::printf("%s · %s · %u blocks fit at once · %.1f us from the first start to the last end\n\n",
              device.name, opt.workload().c_str(), wave, (end_ns - first_ns) / 1e3);
  draw(blocks, first_ns, end_ns);
  std::string csv = "block,sm,start_ns,end_ns\n";
  for (std::size_t i = 0; i < blocks.size(); ++i)
    csv += text(i, ',', blocks[i].sm, ',', blocks[i].start_ns - first_ns, ',',
                blocks[i].end_ns - first_ns, '\n');
  return opt.write_csv(csv) ? kExitOk : kExitWrong;
}
