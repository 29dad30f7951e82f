// SPDX-License-Identifier: MIT
// What becomes of sums whose ticket is shared, or was left behind by an earlier launch?
//
// shared_ticket   last_block on two streams, which share ticket and partial sums
// own_tickets     the same, a ticket and partial sums for each
// ticket_left     last_block after a launch in which some blocks drew no ticket
// ticket_cleared  the same, the ticket set to 0 before

#include "../../../common/common.cuh"
#include "sum_memory.cuh"
#include "wrong_results.cuh"

__global__ void sum_last_block(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (draws_last_ticket(p, sum)) add_partials(p);
}

// How many of the results are not what must come out.
std::size_t count_wrong(const DeviceArray<Sum>& results, Sum expected) {
  const std::vector<Sum> sums = results.download();
  return sums.size() - static_cast<std::size_t>(std::count(sums.begin(), sums.end(), expected));
}

// Many launches on each of two streams, each with a place of its own for its result. Two at a time
// run side by side, and their blocks draw whenever they have finished.
Found two_streams(bool own_tickets, std::size_t n, unsigned block, std::size_t runs) {
  const SumMemory of[2] = {{random_ints(n, 0, 9, 1), 64, block},
                           {random_ints(n, 0, 9, 2), 64, block}};
  const DeviceArray<Sum> results[2] = {DeviceArray<Sum>(runs), DeviceArray<Sum>(runs)};
  cudaStream_t streams[2];
  for (cudaStream_t& s : streams) CUDA_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA_CHECK(cudaDeviceSynchronize());  // these streams do not wait for the default stream
  for (std::size_t k = 0; k < 2 * runs; ++k) {
    GridSum sum = of[k % 2].sum;
    sum.result = results[k % 2] + k / 2;
    if (!own_tickets) sum.ticket = of[0].sum.ticket, sum.partials = of[0].sum.partials;
    sum_last_block<<<sum.grid, block, 0, streams[k % 2]>>>(sum);
  }
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  for (const cudaStream_t s : streams) CUDA_CHECK(cudaStreamDestroy(s));
  const std::size_t wrong =
      count_wrong(results[0], of[0].expected()) + count_wrong(results[1], of[1].expected());
  return {wrong, 2 * runs, wrong == 0 || !own_tickets};
}

// As after a launch in which only a third of the blocks drew: the others had left the kernel early.
// Counts wrong sums. Plausible: the ticket is where it must be; of the cure: all sums are right,
// too.
Found left_ticket(const SumMemory& m, bool clear, std::size_t runs) {
  const unsigned left = m.sum.grid / 3;
  CUDA_CHECK(cudaMemcpy(m.ticket, &left, sizeof left, cudaMemcpyHostToDevice));
  const Sum expected = m.expected();
  Found found{0, runs};
  for (std::size_t k = 0; k < runs; ++k) {
    m.poison();
    if (clear) CUDA_CHECK(cudaMemsetAsync(m.ticket, 0, sizeof(unsigned)));
    sum_last_block<<<m.sum.grid, m.sum.block>>>(m.sum);
    CUDA_CHECK_LAUNCH();
    found.wrong += m.result.download()[0] != expected;
    found.plausible = found.plausible && m.ticket.download()[0] == (clear ? 0 : left);
  }
  CUDA_CHECK(cudaMemset(m.ticket, 0, sizeof(unsigned)));  // for whoever comes next
  if (clear) found.plausible = found.plausible && found.wrong == 0;
  return found;
}

int main(int argc, char** argv) {
  std::size_t n = 256_Ki, block = 512, runs = kOnGpu ? 1000 : 20;
  const Options opt(argc, argv, "10_shared_ticket", "what becomes of sums that share a ticket?",
                    {{"n", &n, 1, 16_Gi, "ints in each sum"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block", kWarp},
                     {"runs", &runs, 1, 1_Mi, "launches on each stream"}});
  ResultTable table(opt, n * sizeof(int), n * sizeof(int) + 4_Mi + 2 * runs * sizeof(Sum));
  table.without_speedup();
  add_found(table, "shared_ticket", "one ticket for two streams", "mixed up", "wrong sums of",
            [&] { return two_streams(false, n, block, runs); });
  add_found(table, "own_tickets", "a ticket for each", "ok", "wrong sums of",
            [&] { return two_streams(true, n, block, runs); });
  const unsigned grid = std::min(blocks_for(n, 16 * block), blocks_held(sum_last_block, block));
  const SumMemory memory{random_ints(n, 1, 9, opt.seed), grid, static_cast<unsigned>(block)};
  add_found(table, "ticket_left", "a third of the blocks have drawn", "early", "wrong sums of",
            [&] { return left_ticket(memory, false, runs); });
  add_found(table, "ticket_cleared", "the ticket set to 0 before", "ok", "wrong sums of",
            [&] { return left_ticket(memory, true, runs); });
  return table.finish();
}
