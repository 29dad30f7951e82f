// SPDX-License-Identifier: MIT
// How fast is a core of the host while its data stays in a cache?
//
// in_l1, in_l2, in_l3   a[i] = b[i] + s * c[i] again and again, over arrays that fill half a cache
// in_memory             over arrays too large for them
// in_registers          the same operations where nothing is loaded or stored: the core's own peak

#include <unistd.h>

#include <fstream>

#include "../../../common/common.cuh"

constexpr std::size_t kArrays = 3;      // a, b, c
constexpr std::size_t kOperations = 2;  // per element: a product and a sum
constexpr double kS = 3;

// Three arrays of `n` doubles each. All values are whole numbers, so that the results are exact.
struct Arrays {
  explicit Arrays(std::size_t n) : a(n), b(n), c(n) {
    for (std::size_t i = 0; i < n; ++i) {
      b[i] = static_cast<double>(i % 1009);
      c[i] = static_cast<double>(i % 127);
    }
  }

  void compute(std::size_t times) {
    double* const to = a.data();
    const double *const from = b.data(), *const scaled = c.data();
    for (std::size_t k = 0; k < times; ++k) {
      for (std::size_t i = 0; i < a.size(); ++i) to[i] = from[i] + kS * scaled[i];
      asm volatile("" ::: "memory");  // or the compiler may see that once is enough
    }
  }

  bool is_right(const std::string& name) const {
    std::vector<double> expected(a.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = static_cast<double>(i % 1009 + 3 * (i % 127));
    return all_equal(name, a, expected);
  }

  std::vector<double> a, b, c;
};

// So many turns of a product and a sum in each of 16 chains, enough to hide how long one takes.
// Starts at 0, 1, 2, ..., and with a factor and a term of 1 each chain counts its turns.
constexpr std::size_t kChains = 16;
std::vector<double> chains_in_registers(std::size_t turns, double factor, double term) {
  double x[kChains];
  for (std::size_t k = 0; k < kChains; ++k) x[k] = static_cast<double>(k);
  for (std::size_t turn = 0; turn < turns; ++turn) {
    for (double& value : x) value = value * factor + term;
  }
  return {x, x + kChains};
}

// The caches for data of a core, as Linux describes them in a folder: "l1", 48 KiB, and so on.
struct Level {
  std::string name;
  std::size_t bytes;
};
std::vector<Level> caches_of_a_core(const std::string& folder) {
  std::vector<Level> caches;
  for (int index = 0;; ++index) {
    const std::string path = folder + "/index" + std::to_string(index);
    std::string level, type;
    std::size_t kib = 0;
    std::ifstream(path + "/level") >> level;
    std::ifstream(path + "/type") >> type;
    std::ifstream(path + "/size") >> kib;  // "48K"
    if (level.empty()) return caches;
    if (type != "Instruction" && kib > 0) caches.push_back({"l" + level, kib * 1024});
  }
}

// The same by the C library, which asks the processor; for a container that shows no such folder.
std::vector<Level> caches_by_library() {
  std::vector<Level> caches;
  for (const auto& [name, question] : {std::pair{"l1", _SC_LEVEL1_DCACHE_SIZE},
                                       {"l2", _SC_LEVEL2_CACHE_SIZE},
                                       {"l3", _SC_LEVEL3_CACHE_SIZE}}) {
    const long bytes = sysconf(question);
    if (bytes > 0) caches.push_back({name, static_cast<std::size_t>(bytes)});
  }
  return caches;
}

// "AMD EPYC 9654 96-Core Processor", or "unknown CPU".
std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown CPU";
}

// Millions of operations per second.
double mflops(std::size_t elements, double ms) {
  return static_cast<double>(kOperations * elements) / ms / 1e3;
}

int main(int argc, char** argv) {
  std::size_t n = 8_Mi;
  const Options opt(argc, argv, "01_host_caches", "how fast is a core whose data is in a cache?",
                    {{"n", &n, 1, 1_Gi, "doubles in each array of in_memory, elements per row"}});
  ResultTable table(opt, kArrays * n * sizeof(double), 0, {"cpu", "level_bytes"});
  table.rate_in("MFLOP/s");
  table.without_speedup();
  const std::string cpu = cpu_name();
  std::vector<Level> levels = caches_of_a_core("/sys/devices/system/cpu/cpu0/cache");
  if (levels.empty()) levels = caches_by_library();
  levels.push_back({"memory", 0});
  for (const Level& level : levels) {
    const std::string name = "in_" + level.name;
    if (!table.wants(name, "the same elements again and again")) continue;
    const std::size_t fit = level.bytes / 2 / (kArrays * sizeof(double));
    Arrays x(level.bytes == 0 ? n : std::max<std::size_t>(1, std::min(fit, n)));
    const std::size_t times = div_up(n, x.a.size());
    const Timing t = time_on_host(opt.samples, [&] { x.compute(times); });
    table.next_row_has(cpu, level.bytes);
    table.row(name, t, mflops(x.a.size() * times, t.median_ms), x.is_right(name));
  }
  if (table.wants("in_registers", "the same operations, nothing loaded or stored")) {
    const std::size_t turns = div_up(n, kChains);
    volatile double one = 1;  // unknown to the compiler
    std::vector<double> counts, expected(kChains);
    std::iota(expected.begin(), expected.end(), static_cast<double>(turns));
    const Timing t =
        time_on_host(opt.samples, [&] { counts = chains_in_registers(turns, one, one); });
    table.next_row_has(cpu, 0);
    table.row("in_registers", t, mflops(kChains * turns, t.median_ms),
              all_equal("in_registers", counts, expected));
  }
  return table.finish();
}
