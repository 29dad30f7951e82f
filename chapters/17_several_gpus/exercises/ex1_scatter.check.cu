// SPDX-License-Identifier: MIT
// STARTER FAILS: each device gets its part, scales it, and gives it back
#include <nccl.h>

#include "common/labs/counts.cuh"
#include "common/labs/ranks.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// Between devices, each of n elements once, and by no kernel.
template <class Made>
void expect_direct(const Made& made, std::size_t n) {
  const auto host = made.copied();
  lab::exactly("bytes that the host gets", host.to_host, 0, "from device to device");
  lab::exactly("bytes that the host gives", host.to_device, 0, "from device to device");
  lab::exactly("bytes copied", made.copies().bytes, n * sizeof(int), "each element once");
  lab::exactly("launches", made.launches, 0, "a copy needs no kernel");
}

void expect_parts(const std::vector<Part>& parts, const std::vector<int>& devices,
                  const std::vector<int>& x, const int* d_x) {
  lab::expect_equal("parts.size()", parts.size(), devices.size());
  std::size_t first = 0;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    const std::string name = "parts[" + std::to_string(r) + "]";
    const std::size_t count = (x.size() + devices.size() - 1 - r) / devices.size();
    lab::expect_equal(name + ".device", parts[r].device, devices[r]);
    lab::expect_equal(name + ".first", parts[r].first, first);
    lab::expect_equal(name + ".count", parts[r].count, count);
    first += count;
    if (count == 0) continue;
    lab::expect_memory_of(devices[r], name + ".x", parts[r].x);
    lab::expect(parts[r].x + count <= d_x || d_x + x.size() <= parts[r].x, name + ".x",
                "memory of its own", "a piece of d_x");
    const lab::Current current(devices[r]);
    std::vector<int> elements(count);
    CUDA_CHECK(
        cudaMemcpy(elements.data(), parts[r].x, count * sizeof(int), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < count; ++i) {
      lab::expect_equal(name + ".x[" + std::to_string(i) + "]", elements[i], x[first - count + i]);
    }
  }
}

void try_on(const std::vector<int>& devices, std::size_t n) {
  const std::vector<int> x = random_ints(n, -1000, 1000, n);
  const int factor = static_cast<int>(lab::drawn(2, 99));
  std::vector<int> expected(n);
  for (std::size_t i = 0; i < n; ++i) expected[i] = factor * x[i];
  const lab::Current current(devices[0]);
  const lab::Array<int> d_x(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::vector<std::size_t> free_before = lab::free_of_devices();

  std::vector<Part> parts;
  lab::watch_copies(
      [&] {
        lab::with_any_device_current([&] { parts = scatter(devices, d_x.get(), n); });
        lab::wait_for_devices();
      },
      [&] { expect_parts(parts, devices, x, d_x.get()); },
      [&](const auto& made) { expect_direct(made, n); });
  // Whatever is gathered comes from the parts.
  CUDA_CHECK(cudaMemset(d_x.get(), 0xff, n * sizeof(int)));
  lab::watch_copies(
      [&] {
        lab::with_any_device_current([&] { scale(parts, factor); });
        lab::wait_for_devices();
      },
      [] {},
      [&](const auto& made) {
        std::vector<int> wanted(
            devices.begin(),
            devices.begin() + static_cast<std::ptrdiff_t>(std::min(n, devices.size())));
        std::vector<int> launched = made.launched_on;
        std::sort(wanted.begin(), wanted.end());
        std::sort(launched.begin(), launched.end());
        lab::exactly("bytes copied in scale()", made.copies().bytes, 0,
                     "each part is where it is needed");
        lab::expect(launched == wanted, "launches of scale()",
                    "one on each device that has elements: " + lab::text_of(wanted),
                    "on " + lab::text_of(launched));
      });
  lab::watch_copies(
      [&] {
        lab::with_any_device_current([&] { gather(parts, d_x.get()); });
        lab::wait_for_devices();
      },
      [&] { lab::expect_equal("d_x", d_x.download(), expected); },
      [&](const auto& made) { expect_direct(made, n); });
  lab::expect(kOnGpu || lab::free_of_devices() == free_before, "the devices' memory afterwards",
              "as much is free as before", "less");
}

}  // namespace

TEST_CASE("each device gets its part, scales it, and gives it back") {
  const std::vector<std::vector<int>> lists = lab::lists_of_devices();
  lab::Trials()
      .sizes({1, 2, 3, 4, 5, 31, 1000, lab::drawn(6, 400), lab::drawn(1001, 3000), 0})
      .inputs({lab::Input::kRandom})
      .run([&](const lab::Trial& at) {
        lab::on_each_list(lists, [&](const auto& devices) { try_on(devices, at.n); });
      });
}
