// SPDX-License-Identifier: MIT
// How long do NCCL's collectives take?
//
// By the size of what each rank has. Bandwidths as NVIDIA's nccl-tests define them: bytes over
// time, and the same times what makes it comparable with a link's, whatever the number of ranks.

#include "../../../common/common.cuh"
#include "../devices.cuh"
#include "ranked_data.cuh"

struct Memory {
  DeviceArray<float> given, got;
  DeviceArray<unsigned> wrong;
};

// What is measured: a call of each rank, in a group; what a rank gets; the factor of nccl-tests.
struct Collective {
  const char* name;
  ncclResult_t (*call)(const Memory& mine, std::size_t count, const Ranks& ranks, const Rank& rank);
  Got got;
  double (*bus_factor)(double ranks);
  bool is_waited_for = false;  // the host waits for all devices after each
};

// Each rank sends to the next one and receives from the one before.
ncclResult_t shift(const Memory& mine, std::size_t count, const Ranks& ranks, const Rank& rank) {
  const std::size_t next = (rank.number + 1) % ranks.size();
  const std::size_t previous = (rank.number + ranks.size() - 1) % ranks.size();
  const ncclResult_t sent = ncclSend(mine.given, count, ncclFloat, static_cast<int>(next),
                                     rank.communicator, rank.stream);
  if (sent != ncclSuccess) return sent;
  return ncclRecv(mine.got, count, ncclFloat, static_cast<int>(previous), rank.communicator,
                  rank.stream);
}

ncclResult_t all_reduce(const Memory& mine, std::size_t count, const Ranks&, const Rank& rank) {
  return ncclAllReduce(mine.given, mine.got, count, ncclFloat, ncclSum, rank.communicator,
                       rank.stream);
}
double factor_of_all_reduce(double ranks) { return 2 * (ranks - 1) / ranks; }

const Collective kCollectives[] = {
    {"all_reduce", all_reduce, Got::kSumOfAll, factor_of_all_reduce},
    {"waited_for", all_reduce, Got::kSumOfAll, factor_of_all_reduce, true},
    {"broadcast",
     [](const Memory& mine, std::size_t count, const Ranks&, const Rank& rank) {
       return ncclBroadcast(mine.given, mine.got, count, ncclFloat, 0, rank.communicator,
                            rank.stream);
     },
     Got::kOfFirst, [](double) { return 1.0; }},
    {"shift", shift, Got::kOfPrevious, [](double) { return 1.0; }},
};

// In a group: one host thread calls for all ranks.
void call_all(const Collective& it, const Ranks& ranks, const std::vector<Memory>& memory,
              std::size_t count) {
  NCCL_CHECK(ncclGroupStart());
  ranks.each(
      [&](const Rank& rank) { NCCL_CHECK(it.call(memory[rank.number], count, ranks, rank)); });
  NCCL_CHECK(ncclGroupEnd());
}

bool all_right(const Collective& it, const Ranks& ranks, const std::vector<Memory>& memory,
               std::size_t count) {
  bool right = true;
  ranks.wait();
  ranks.each([&](const Rank& rank) {
    const Memory& mine = memory[rank.number];
    right = has_got(it.got, mine.got, count, rank.number, ranks.size(), mine.wrong) && right;
  });
  return right;
}

int main(int argc, char** argv) {
  std::size_t devices = 0, most = kOnGpu ? 1_Gi : 16_Ki;
  const Options opt(argc, argv, "17_collectives", "how long do collectives take?",
                    {{"devices", &devices, 1, 1024, "from --device on; usually all there are"},
                     {"bytes", &most, 8, 16_Gi, "of the largest, of each rank"}});
  const std::vector<int> ordinals = devices_of(opt, devices);
  devices = ordinals.size();
  ResultTable table(opt, 2 * most, 0, {"algbw", "busbw"});
  table.without_speedup();
  Ranks ranks(ordinals);
  ranks.connect();
  std::vector<Memory> memory;
  ranks.each([&](const Rank& rank) {
    memory.push_back({DeviceArray<float>(most / sizeof(float)),
                      DeviceArray<float>(most / sizeof(float)), DeviceArray<unsigned>(1)});
    give(memory.back().given, memory.back().given.size(), rank.number);
  });
  for (const Collective& it : kCollectives) {
    for (std::size_t bytes = 8; bytes <= most; bytes = bytes == 8 ? 1_Ki : bytes * 4) {
      const std::string name = text(it.name, " size=", bytes_text(bytes));
      if (!table.wants(name, it.name)) continue;
      const std::size_t count = bytes / sizeof(float);
      ranks.each([&](const Rank& rank) { memory[rank.number].got.poison(); });
      call_all(it, ranks, memory, count);
      const bool right_at_first = all_right(it, ranks, memory, count);
      const auto run = [&] {
        call_all(it, ranks, memory, count);
        if (it.is_waited_for) ranks.wait();
      };
      const Timing t = time_calls(bytes < 64_Mi ? opt.samples : 5, [&](std::size_t calls) {
        return ms_of_calls(ranks, calls, run);
      });
      const double algbw = static_cast<double>(bytes) / t.median_ms / 1e6;
      table.next_row_has(algbw, algbw * it.bus_factor(static_cast<double>(ranks.size())));
      table.row(name, t, 0, right_at_first && all_right(it, ranks, memory, count));
    }
  }
  return table.finish();
}
