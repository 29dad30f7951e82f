// SPDX-License-Identifier: MIT
// STARTER FAILS: both halos come from the neighbours, with any number of ranks
#include <nccl.h>

#include "common/labs/counts.cuh"
#include "common/labs/ranks.cuh"
// the learner's file:
#include LAB_FILE

namespace {

using Elements = std::vector<unsigned>;

Elements some(std::size_t n, std::uint64_t seed) {
  Elements elements(n);
  for (std::size_t i = 0; i < n; ++i) elements[i] = static_cast<unsigned>(random_bits(seed, i));
  return elements;
}

// A ring in parts on the devices.
class Ring {
 public:
  // Each rank has `least` elements or some more.
  Ring(const lab::Ranks& on, std::size_t least, std::size_t width) : on_(on), width_(width) {
    for (std::size_t r = 0; r < on.size(); ++r) {
      const lab::Current current(on.device(r));
      counts_.push_back(least + lab::drawn(0, 5));
      const Elements own = some(counts_[r], 17 * r + least);
      ring_.insert(ring_.end(), own.begin(), own.end());
      Elements with_halos(counts_[r] + 2 * width, 0xffffffff);
      x_.emplace_back(with_halos);
      y_.emplace_back(with_halos);
      CUDA_CHECK(cudaMemcpy(x_[r].get() + width, own.data(), own.size() * sizeof(unsigned),
                            cudaMemcpyHostToDevice));
    }
    lab::wait_for_devices();
  }

  std::vector<Rank> ranks() const {
    std::vector<Rank> all;
    for (std::size_t r = 0; r < on_.size(); ++r) {
      all.push_back({on_.device(r), on_.stream(r), on_.communicator(r), counts_[r], x_[r].get(),
                     y_[r].get()});
    }
    return all;
  }

  // Own elements are what they were, and halos what the ring has there.
  void expect_halos() const {
    std::size_t first = 0;
    for (std::size_t r = 0; r < on_.size(); ++r) {
      const Elements x = downloaded(r, x_[r]);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t at = (first + i + ring_.size() - width_) % ring_.size();
        const bool is_halo = i < width_ || i >= width_ + counts_[r];
        const std::string what =
            !is_halo     ? "own element " + std::to_string(i - width_)
            : i < width_ ? "left halo[" + std::to_string(i) + "]"
                         : "right halo[" + std::to_string(i - width_ - counts_[r]) + "]";
        lab::expect_equal(what + " of rank " + std::to_string(r), x[i], ring_[at]);
      }
      first += counts_[r];
    }
  }

  // After a step in which x and y have changed places or not.
  void expect_step(std::size_t steps) {
    for (std::size_t s = 0; s < steps; ++s) {
      Elements next(ring_.size());
      for (std::size_t i = 0; i < next.size(); ++i) {
        for (std::size_t k = 0; k <= 2 * width_; ++k)
          next[i] += ring_[(i + k + width_ * (ring_.size() - 1)) % ring_.size()];
      }
      ring_.swap(next);
    }
    std::size_t first = 0;
    for (std::size_t r = 0; r < on_.size(); ++r) {
      const Elements x = downloaded(r, steps % 2 == 0 ? x_[r] : y_[r]);
      for (std::size_t i = 0; i < counts_[r]; ++i) {
        lab::expect_equal("element " + std::to_string(i) + " of rank " + std::to_string(r) +
                              " after " + std::to_string(steps) + " steps",
                          x[width_ + i], ring_[first + i]);
      }
      first += counts_[r];
    }
  }

 private:
  Elements downloaded(std::size_t rank, const lab::Array<unsigned>& elements) const {
    const lab::Current current(on_.device(rank));
    return elements.download();
  }

  const lab::Ranks& on_;
  const std::size_t width_;
  std::vector<std::size_t> counts_;
  Elements ring_;
  std::vector<lab::Array<unsigned>> x_, y_;
};

void try_on(const std::vector<int>& devices, std::size_t least, std::size_t width) {
  const lab::Ranks on(devices);
  Ring ring(on, least, width);
  std::vector<Rank> ranks = ring.ranks();
  lab::watch_copies(
      [&] {
        exchange_halos(ranks, width);
        lab::wait_for_devices();
      },
      [&] { ring.expect_halos(); },
      [&](const auto& made) {
        const auto sent = made.read_by("ncclSend"), received = made.written_by("ncclRecv");
        const std::size_t halos = 2 * ranks.size(), bytes = halos * width * sizeof(unsigned);
        lab::exactly("copies", made.copies().times, 0, "halos cross by NCCL alone");
        lab::exactly("launches", made.launches, 0, "halos cross by NCCL alone");
        lab::exactly("calls of ncclSend", sent.times, halos, "two of each rank");
        lab::exactly("calls of ncclRecv", received.times, halos, "two of each rank");
        lab::exactly("bytes sent", sent.bytes, bytes, "a halo in each");
        lab::exactly("bytes received", received.bytes, bytes, "a halo in each");
      });
  const lab::Current current(devices[0]);
  constexpr std::size_t kSteps = 3;
  for (std::size_t s = 0; s < kSteps; ++s) make_step(&ranks, width);
  lab::wait_for_devices();
  ring.expect_step(kSteps);
}

}  // namespace

TEST_CASE("both halos come from the neighbours, with any number of ranks") {
  const std::vector<std::vector<int>> lists = lab::lists_of_devices();
  lab::Trials()
      .sizes({1, 2, 3, lab::drawn(4, 40), lab::drawn(300, 600)})
      .inputs({lab::Input::kRandom})
      .run([&](const lab::Trial& at) {
        const std::size_t width = at.n < 4 ? at.n : lab::drawn(1, static_cast<unsigned>(at.n));
        lab::on_each_list(lists, [&](const auto& devices) { try_on(devices, at.n, width); });
      });
}
