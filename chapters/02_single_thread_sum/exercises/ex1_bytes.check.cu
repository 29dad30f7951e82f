// SPDX-License-Identifier: MIT
// STARTER FAILS: the sum on the device is the sum of all elements
#include <numeric>

#include "common/labs/counts.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace lab {

// For copied_by(), which only asks on the CPU backend.
struct ElementsOf {
  const std::vector<int>& x;
  const int* get() const { return x.data(); }
  std::size_t size() const { return x.size(); }
};

}  // namespace lab

namespace {

long long reference(const lab::Trial& at) {
  const std::vector<int> x = lab::ints_of(at);
  return std::accumulate(x.begin(), x.end(), 0LL);
}

// The sum of the elements 7 - 3 * x[i].
long long other_reference(const lab::Trial& at) {
  return 7 * static_cast<long long>(at.n) - 3 * reference(at);
}

// The elements are added by the kernel's one thread, and nothing is moved but them and the sum.
void expect_sum(const std::string& name, const std::vector<int>& x, long long expected) {
  const std::size_t n = x.size(), bytes = n * sizeof(int);
  long long sum = 0;
  lab::Copied copied;
  lab::count([&] { copied = lab::copied_by([&] { sum = sum_on_device(x); }, lab::ElementsOf{x}); },
             [&] { lab::expect_equal(name, sum, expected); },
             [&](const auto& seen) {
               // Whoever clears the sum copies it there as well.
               lab::between("bytes copied to the device", copied.to_device, bytes,
                            bytes + sizeof(long long), "as many as x has");
               lab::exactly("bytes of x itself that were copied", copied.of_arrays, bytes,
                            "the kernel gets the elements as they are");
               if (n > 2) {
                 lab::exactly("bytes of the largest array on the device", copied.room, bytes,
                              "as many as x has");
               }
               lab::exactly("bytes copied back to the host", copied.to_host, sizeof(long long),
                            "as many as the sum has, and nothing else");
               lab::expect(copied.brought(sum), "the sum that the function returns",
                           "what the copy to the host brought", "something else");
               lab::expect(seen.kernel == "sum_single_thread", "the kernel that adds",
                           "sum_single_thread", seen.kernel);
               lab::exactly("threads of the launch", std::uint64_t{seen.grid.x} * seen.block.x, 1,
                            "one thread adds all elements");
               lab::exactly("loads of the kernel from device memory", seen.loads().lanes, n,
                            "the kernel adds the elements, each of them once");
             });
}

}  // namespace

TEST_CASE("the kernel leaves the sum of the elements") {
  lab::Trials().sizes({33, 1000, 0}).run([](const lab::Trial& at) {
    const lab::Array<int> d_x(lab::ints_of(at));
    const lab::Array<long long> sum(1);
    sum_single_thread<<<1, 1>>>(d_x.get(), at.n, sum.get());
    CUDA_CHECK_LAUNCH();
    lab::expect_equal("*sum", sum.download().at(0), reference(at));
  });
}

TEST_CASE("the sum on the device is the sum of all elements") {
  lab::Trials()
      .sizes(lab::sizes())
      .diagnose("only negative sums fail: how many bytes of the result come back?",
                [](const lab::Trial& r) { return reference(r) < 0 || other_reference(r) < 0; })
      .diagnose("it is right only without elements: how many bytes of x arrive?",
                [](const lab::Trial& r) { return r.n > 0; })
      .run([](const lab::Trial& at) {
        const std::vector<int> x = lab::ints_of(at);
        expect_sum("sum", x, reference(at));
        // Memory that was just freed still holds the elements of the first call.
        std::vector<int> other(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) other[i] = 7 - 3 * x[i];
        expect_sum("sum of the second call", other, other_reference(at));
      });
}
