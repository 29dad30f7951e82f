// SPDX-License-Identifier: MIT
#include "board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "../../engine/state/settings.h"
#include "../../report/text.h"

namespace cuda_cpu {
namespace {

constexpr char kNameBegins[] = "cuda_cpu_nccl_";
constexpr std::int64_t kDataBegins = 1 << 24;  // beyond the board
constexpr std::int64_t kDataOfRank = std::int64_t{1} << 36;
static_assert(sizeof(SharedBoard) < kDataBegins);

struct flock lock_of(int rank) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return lock;
}

}  // namespace

std::string new_board_name() {
  std::random_device random;
  return format("%s%08x%08x", kNameBegins, random(), random());
}

bool is_board_name(const std::string& name) {
  return name.rfind(kNameBegins, 0) == 0 && name.find('/') == std::string::npos;
}

Board::Board(const std::string& name) {
  int how = MAP_SHARED | MAP_ANONYMOUS;
  if (!name.empty()) {
    const char* const folder = std::getenv("TMPDIR");
    name_ = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/" + name;
    file_ = open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file_ < 0 || ftruncate(file_, kDataBegins) != 0) return;
    how = MAP_SHARED;
  }
  void* const memory = mmap(nullptr, sizeof(SharedBoard), PROT_READ | PROT_WRITE, how, file_, 0);
  if (memory != MAP_FAILED) shared_ = static_cast<SharedBoard*>(memory);
}

Board::~Board() {
  take_name_away();
  if (shared_ != nullptr) munmap(shared_, sizeof(SharedBoard));
  if (file_ >= 0) close(file_);  // and all locks of this process
}

bool Board::sit_down(int rank, int device) {
  Seat& it = seat(rank);
  struct flock lock = lock_of(rank);
  // The lock comes first: who has a seat and no lock is dead.
  if (file_ >= 0 && fcntl(file_, F_SETLK, &lock) != 0) return false;
  int nobody = 0;
  if (!it.process.compare_exchange_strong(nobody, static_cast<int>(getpid()))) return false;
  it.device = device;
  it.devices = device_count();
  if (++shared_->seated == shared_->ranks) take_name_away();
  return true;
}

void Board::take_name_away() {
  if (!name_.empty()) unlink(name_.c_str());
  name_.clear();
}

bool Board::is_here(int rank) const { return seat(rank).process == static_cast<int>(getpid()); }

bool Board::is_alive(int rank) const {
  if (file_ < 0 || is_here(rank)) return true;
  struct flock lock = lock_of(rank);
  return fcntl(file_, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

double Board::seconds_used(int rank) const {
  if (is_here(rank)) {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
  }
  std::FILE* const file =
      std::fopen(format("/proc/%d/stat", seat(rank).process.load()).c_str(), "r");
  if (file == nullptr) return 0;
  char line[1024] = "";
  const bool is_read = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  const char* const rest =
      is_read ? std::strrchr(line, ')') : nullptr;  // its name may hold anything
  unsigned long user = 0, system = 0;
  if (rest == nullptr ||
      std::sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                  &system) != 2) {
    return 0;
  }
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int Board::report_as(int rank) const {
  int reporter = 0;
  return shared_->reporter.compare_exchange_strong(reporter, rank + 1) ? rank : reporter - 1;
}

bool Board::write(int rank, Post* post, std::size_t bytes) {
  if (file_ < 0 || bytes == 0) return true;
  // What all have read makes room.
  const Seat& it = seat(rank);
  bool is_read = true;
  for (int other = 0; other < shared_->ranks; ++other) {
    is_read = is_read && seat(other).finished >= it.collectives;
  }
  for (const Post& transfer : it.transfer) is_read = is_read && transfer.state != Post::kPosted;
  if (is_read) written_[rank] = 0;
  post->at = kDataBegins + rank * kDataOfRank + written_[rank];
  const auto* from = static_cast<const char*>(post->data);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n =
        pwrite(file_, from + done, bytes - done, post->at + static_cast<std::int64_t>(done));
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  written_[rank] += static_cast<std::int64_t>(bytes);
  return true;
}

std::string Board::read(const Post& post, std::size_t bytes) const {
  std::string data(bytes, '\0');
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n =
        pread(file_, &data[done], bytes - done, post.at + static_cast<std::int64_t>(done));
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  return data;
}

}  // namespace cuda_cpu
