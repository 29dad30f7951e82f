// SPDX-License-Identifier: MIT
// STARTER FAILS: each rank has its own histogram and that of all
#include <nccl.h>

#include <memory>

#include "common/labs/counts.cuh"
#include "common/labs/ranks.cuh"
// the learner's file:
#include LAB_FILE

namespace {

using Bytes = std::vector<unsigned char>;

Bytes random_bytes(std::size_t n, std::uint64_t seed) {
  Bytes bytes(n);
  // Some values more often than others, and some never.
  for (std::size_t i = 0; i < n; ++i)
    bytes[i] = static_cast<unsigned char>(random_int(0, 15, seed, i) * random_int(0, 17, ~seed, i));
  return bytes;
}

void add_to(std::vector<unsigned>* bins, const Bytes& bytes, unsigned weight) {
  for (const unsigned char byte : bytes) (*bins)[byte] += weight;
}

// What the ranks have in the devices' memory.
class Data {
 public:
  // n bytes in all. Some ranks have none, or all.
  Data(const lab::Ranks& on, std::size_t n) : ranks_(on) {
    std::vector<std::size_t> ends(on.size(), n);
    for (std::size_t r = 0; r + 1 < on.size(); ++r)
      ends[r] = lab::drawn(0, static_cast<unsigned>(n));
    std::sort(ends.begin(), ends.end());
    for (std::size_t r = 0; r < on.size(); ++r) {
      const lab::Current current(on.device(r));
      weights_.push_back(static_cast<unsigned>(random_bits(n, r)));
      bytes_.push_back(random_bytes(ends[r] - (r == 0 ? 0 : ends[r - 1]), n + r));
      x_.emplace_back(bytes_.back());
      counts_.emplace_back(kBins);
      total_.emplace_back(kBins);
      CUDA_CHECK(cudaMemset(counts_[r].get(), 0xff, kBins * sizeof(unsigned)));
      CUDA_CHECK(cudaMemset(total_[r].get(), 0xff, kBins * sizeof(unsigned)));
    }
    lab::wait_for_devices();
  }

  std::vector<Rank> ranks() const {
    std::vector<Rank> all;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      all.push_back({ranks_.device(r), ranks_.stream(r), ranks_.communicator(r), x_[r].get(),
                     bytes_[r].size(), weights_[r], counts_[r].get(), total_[r].get()});
    }
    return all;
  }

  void expect_right() const {
    std::vector<unsigned> of_all(kBins);
    for (std::size_t r = 0; r < ranks_.size(); ++r) add_to(&of_all, bytes_[r], weights_[r]);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const lab::Current current(ranks_.device(r));
      const std::string of_rank = " of rank " + std::to_string(r);
      std::vector<unsigned> own(kBins);
      add_to(&own, bytes_[r], weights_[r]);
      lab::expect_equal("total" + of_rank, total_[r].download(), of_all);
      lab::expect_equal("counts" + of_rank, counts_[r].download(), own);
    }
  }

 private:
  const lab::Ranks& ranks_;
  std::vector<Bytes> bytes_;
  std::vector<unsigned> weights_;
  std::vector<lab::Array<unsigned char>> x_;
  std::vector<lab::Array<unsigned>> counts_, total_;
};

void try_on(const std::vector<int>& devices, std::size_t n) {
  const lab::Ranks on(devices);
  const Data data(on, n);
  const std::vector<Rank> ranks = data.ranks();
  lab::watch_copies(
      [&] {
        lab::expect_not_waiting(on,
                                [&] { lab::with_any_device_current([&] { histogram(ranks); }); });
      },
      [&] { data.expect_right(); },
      [&](const auto& made) {
        const auto all_reduce = made.read_by("ncclAllReduce");
        lab::exactly("copies", made.copies().times, 0, "NCCL carries, and nothing else");
        lab::exactly("calls of ncclAllReduce", all_reduce.times, ranks.size(), "one of each rank");
        lab::exactly("bytes given to ncclAllReduce", all_reduce.bytes,
                     ranks.size() * kBins * sizeof(unsigned), "a rank's histogram");
      });
  // And again, and again: nothing of what was there before is in the results.
  for (int call = 0; call < 2; ++call) histogram(ranks);
  lab::wait_for_devices();
  data.expect_right();
}

}  // namespace

TEST_CASE("each rank has its own histogram and that of all") {
  const std::vector<std::vector<int>> lists = lab::lists_of_devices();
  lab::Trials()
      .sizes({1, 2, 255, 256, 257, 1000, lab::drawn(3, 250), lab::drawn(1001, 3000), 0})
      .inputs({lab::Input::kRandom})
      .run([&](const lab::Trial& at) {
        lab::on_each_list(lists, [&](const auto& devices) { try_on(devices, at.n); });
      });
}
