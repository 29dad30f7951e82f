// SPDX-License-Identifier: MIT
// How do ranks work together that are processes of their own?
//
// A launcher says in the environment who each is: RANK, WORLD_SIZE, and ID_FILE, a path that all of
// them see. Without these it starts a process for each device itself.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "../../../common/common.cuh"
#include "../devices.cuh"
#include "ranked_data.cuh"

constexpr std::size_t kCalls = kOnGpu ? 200 : 2;  // of each sample: the same on all ranks

// A number of the environment, or `otherwise`.
std::size_t from_environment(const Options& opt, const char* name, std::size_t otherwise) {
  const char* const typed = std::getenv(name);
  std::uint64_t value = otherwise;
  if (typed != nullptr && !parse_count(typed, &value))
    opt.usage_error(name, "=", typed, ": expected a number");
  return value;
}

// Rank 0 makes the id, and the file with it, which is whole as soon as it has its name. The others
// wait until it is there.
ncclUniqueId agree_on_id(std::size_t rank, const std::string& path) {
  ncclUniqueId id;
  if (rank == 0) {
    NCCL_CHECK(ncclGetUniqueId(&id));
    const std::string part = path + ".part";
    std::ofstream(part, std::ios::binary).write(id.internal, sizeof id.internal);
    if (std::rename(part.c_str(), path.c_str()) != 0) end_program(path + ": cannot be written");
    return id;
  }
  const double begin = host_ms();
  while (host_ms() - begin < 30000) {
    std::ifstream file(path, std::ios::binary);
    if (file.read(id.internal, sizeof id.internal)) return id;
    usleep(1000);
  }
  end_program(path + ": rank 0 has not written it in 30 s");
}

// What one process does: its rank's part of each all-reduce. Rank 0 prints.
int run_rank(const Options& opt, std::size_t rank, std::size_t ranks, std::size_t most) {
  const char* const id_file = std::getenv("ID_FILE");
  if (rank >= ranks || id_file == nullptr)
    opt.usage_error("RANK=", rank, " WORLD_SIZE=", ranks, ": expected RANK below WORLD_SIZE, and ",
                    "ID_FILE");
  const auto devices = static_cast<std::size_t>(require_device(opt));
  CUDA_CHECK(cudaSetDevice(static_cast<int>(from_environment(opt, "LOCAL_RANK", rank) % devices)));
  CUDA_CHECK(cudaFree(nullptr));  // the context is not part of what is timed
  const double begin = host_ms();
  ncclComm_t communicator = nullptr;
  NCCL_CHECK(ncclCommInitRank(&communicator, static_cast<int>(ranks), agree_on_id(rank, id_file),
                              static_cast<int>(rank)));
  const double connected_ms = host_ms() - begin;

  std::optional<ResultTable> table;
  if (rank == 0) {
    table.emplace(opt, 2 * most, 0, std::vector<std::string>{"algbw", "busbw"});
    table->without_speedup();
    table->next_row_has("-", "-");
    table->row("connect", timing_of({connected_ms}), 0, true);
  }
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreate(&stream));
  const DeviceArray<float> given(most / sizeof(float)), got(most / sizeof(float));
  const DeviceArray<unsigned> wrong(1);
  give(given, given.size(), rank);
  bool all_right = true;
  for (std::size_t bytes = 8; bytes <= most; bytes = bytes == 8 ? 1_Ki : bytes * 4) {
    const std::size_t count = bytes / sizeof(float);
    const auto all_reduce = [&](std::size_t calls) {
      const double begin = host_ms();
      for (std::size_t call = 0; call < calls; ++call) {
        NCCL_CHECK(ncclAllReduce(given, got, count, ncclFloat, ncclSum, communicator, stream));
      }
      CUDA_CHECK(cudaStreamSynchronize(stream));
      return (host_ms() - begin) / static_cast<double>(calls);
    };
    got.poison();
    all_reduce(1);
    const bool right = has_got(Got::kSumOfAll, got, count, rank, ranks, wrong);
    all_right = all_right && right;
    std::vector<double> ms;
    while (ms.size() < opt.samples) ms.push_back(all_reduce(bytes < 64_Mi ? kCalls : 5));
    if (rank > 0) continue;
    const Timing t = timing_of(ms);
    const double algbw = static_cast<double>(bytes) / t.median_ms / 1e6;
    const auto n = static_cast<double>(ranks);
    table->next_row_has(algbw, algbw * 2 * (n - 1) / n);
    table->row(text("all_reduce size=", bytes_text(bytes)), t, 0, right);
  }
  NCCL_CHECK(ncclCommDestroy(communicator));
  CUDA_CHECK(cudaStreamDestroy(stream));
  return rank == 0 ? table->finish() : all_right ? kExitOk : kExitWrong;
}

// Starts a process for each rank and waits for all. If one ends with an error the others would wait
// for it, so they are ended, too.
int start_ranks(std::size_t ranks, char** argv) {
  char folder[] = "/tmp/ranks.XXXXXX";
  if (mkdtemp(folder) == nullptr) end_program("/tmp: no folder can be made there");
  const std::string id_file = std::string(folder) + "/id";
  setenv("ID_FILE", id_file.c_str(), 1);
  setenv("WORLD_SIZE", text(ranks).c_str(), 1);
  std::vector<pid_t> processes(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    setenv("RANK", text(rank).c_str(), 1);
    // A program from its begin: a mere fork would take over what CUDA has here, which does not
    // work.
    if (posix_spawn(&processes[rank], "/proc/self/exe", nullptr, nullptr, argv, environ) != 0)
      end_program("no process could be started");
  }
  int first_failure = kExitOk;
  for (std::size_t ended = 0; ended < ranks; ++ended) {
    int status = 0;
    const pid_t process = wait(&status);
    const auto rank = std::find(processes.begin(), processes.end(), process);
    if (status == 0 || first_failure != kExitOk) continue;
    first_failure = WIFEXITED(status) ? WEXITSTATUS(status) : kExitWrong;
    std::fprintf(stderr, "rank %td ended with %s %d; so the others are ended\n",
                 rank - processes.begin(), WIFEXITED(status) ? "status" : "signal",
                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    for (const pid_t other : processes) {
      if (other != process) kill(other, SIGTERM);
    }
  }
  std::remove(id_file.c_str());
  rmdir(folder);
  return first_failure;
}

int main(int argc, char** argv) {
  std::size_t ranks = 0, most = kOnGpu ? 1_Gi : 4_Ki;
  const Options opt(argc, argv, "17_one_process_each", "how do processes work together?",
                    {{"ranks", &ranks, 1, 1024, "processes to start; usually one for each device"},
                     {"bytes", &most, 8, 16_Gi, "of the largest all-reduce"}});
  opt.expect_no_versions();
  if (std::getenv("WORLD_SIZE") != nullptr) {
    const std::size_t size = from_environment(opt, "WORLD_SIZE", 1);
    return run_rank(opt, from_environment(opt, "RANK", 0), ranks = size, most);
  }
  if (ranks == 0) ranks = static_cast<std::size_t>(require_device(opt));
  return start_ranks(ranks, argv);
}
