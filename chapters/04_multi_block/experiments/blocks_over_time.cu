// SPDX-License-Identifier: MIT
// Where and when does each block of a launch run?

#include "../../../common/common.cuh"
#include "block_records.cuh"

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
  opt.expect_no_versions();
  const Device device = open_device(opt);
  const unsigned wave = blocks_held(sum_recorded, block);
  if (grid == 0) grid = wave * 5 / 2;
  const Launch launch(sum_recorded, random_ints(n, 0, 9, opt.seed), grid, block);
  if (!equals("sum", launch.sum, launch.expected)) return kExitWrong;
  const std::vector<BlockRecord>& blocks = launch.blocks;
  const BlockRecord all = whole_launch(blocks);
  std::printf("%s · %s · %u blocks fit at once · %.1f us from the first start to the last end\n\n",
              device.name, opt.workload().c_str(), wave, (all.end_ns - all.start_ns) / 1e3);
  draw(blocks, all.start_ns, all.end_ns);
  std::string csv = "block,sm,start_ns,end_ns\n";
  for (std::size_t i = 0; i < blocks.size(); ++i)
    csv += text(i, ',', blocks[i].sm, ',', blocks[i].start_ns - all.start_ns, ',',
                blocks[i].end_ns - all.start_ns, '\n');
  return write_csv(opt, csv) ? kExitOk : kExitWrong;
}
