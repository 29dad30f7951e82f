// SPDX-License-Identifier: MIT
// What does the order of addresses cost on the host?
//
// One core, one loop, a[i] = b[i] + s * c[i], over arrays too large for a core's caches. Every
// element once, in three orders:
// inorder   one element after the other: each 64-byte line is used up while it is there
// far=K     every K-th element, through the whole array, K times: when the loop comes back for the
//           rest of a line, that line has left the cache
// near=K    the same steps, but through one small piece after another: the line is still there

#include <limits>

#include "../../../common/common.cuh"

constexpr std::size_t kLine = 64;       // bytes that a CPU's cache fetches at a time
constexpr std::size_t kPiece = 1024;    // elements: three pieces of 8 KiB fit a first cache
constexpr std::size_t kArrays = 3;      // a, b, c
constexpr std::size_t kOperations = 2;  // per element: a product and a sum
constexpr double kS = 3;

// One order: every `step`-th element of a piece, `step` times, then the next piece.
struct Order {
  std::string name;
  std::size_t step, piece;
};

std::vector<Order> orders(std::size_t n) {
  std::vector<Order> all = {{"inorder", 1, n}};
  for (const std::size_t step : {2, 4, 8, 16, 64}) {
    all.push_back({"far=" + std::to_string(step), step, n});
  }
  for (const std::size_t step : {8, 64}) {
    all.push_back({"near=" + std::to_string(step), step, kPiece});
  }
  return all;
}

// The arrays. All values are whole numbers, so that the results are exact.
struct Arrays {
  explicit Arrays(std::size_t n) : a(n), b(n), c(n) {
    for (std::size_t i = 0; i < n; ++i) {
      b[i] = static_cast<double>(i % 1009);
      c[i] = static_cast<double>(i % 127);
    }
  }
  void poison() { std::fill(a.begin(), a.end(), std::numeric_limits<double>::quiet_NaN()); }

  std::vector<double> a, b, c;
};

// Calls visit(i) for every i below n, once, in this order.
template <class Visit>
void walk(const Order& order, std::size_t n, Visit visit) {
  for (std::size_t begin = 0; begin < n; begin += order.piece) {
    const std::size_t end = std::min(begin + order.piece, n);
    for (std::size_t first = begin; first < std::min(begin + order.step, end); ++first) {
      for (std::size_t i = first; i < end; i += order.step) visit(i);
    }
  }
}

void triad(Arrays& x, const Order& order) {
  double* const a = x.a.data();
  const double *const b = x.b.data(), *const c = x.c.data();
  walk(order, x.a.size(), [=](std::size_t i) { a[i] = b[i] + kS * c[i]; });
}

bool check(const std::string& name, const Arrays& x) {
  std::vector<double> expected(x.a.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = static_cast<double>(i % 1009 + 3 * (i % 127));
  }
  return all_equal(name, x.a, expected);
}

// Millions of operations per second when every element moves `bytes` and the memory delivers
// `gbps`.
double mflops(double gbps, double bytes) { return gbps * 1e3 / bytes * kOperations; }

int main(int argc, char** argv) {
  std::size_t n = 8_Mi;
  const Options opt(argc, argv, "01_locality", "what does the order of addresses cost on the host?",
                    {{"n", &n, 1, 1_Gi, "doubles in each of three arrays"}});
  ResultTable table(opt, kArrays * n * sizeof(double));
  table.rate_in("MFLOP/s");
  Arrays x(n);
  const double operations = static_cast<double>(kOperations * n);
  double in_order_ms = 0;
  for (const Order& order : orders(n)) {
    if (!table.wants(order.name)) continue;
    x.poison();
    triad(x, order);
    const bool right_at_first = check(order.name, x);
    const Timing t = time_on_host(opt.samples, [&] { triad(x, order); });
    table.row(order.name, t, operations / t.median_ms / 1e3,
              check(order.name, x) && right_at_first);
    if (order.step == 1) in_order_ms = t.median_ms;
  }
  if (in_order_ms == 0) return table.finish();
  // Three arrays are read (a line of `a` before it is written), one is written back.
  const double gbps = static_cast<double>((kArrays + 1) * n * sizeof(double)) / in_order_ms / 1e6;
  table.measured("in_order_bandwidth", gbps, "GB/s",
                 "one core in order, 32 bytes per element: ", gbps, " GB/s");
  table.note("a line used for one element only, 4 x 64 bytes per element: ",
             mflops(gbps, (kArrays + 1) * kLine), " MFLOP/s predicted");
  table.note("the rule of 20 GB/s, 3 x 64 or 3 x 8 bytes and one operation per element: ",
             mflops(20, kArrays * kLine) / kOperations, " or ",
             mflops(20, kArrays * sizeof(double)) / kOperations, " MFLOP/s");
  return table.finish();
}
