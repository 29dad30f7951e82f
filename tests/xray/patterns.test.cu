// SPDX-License-Identifier: MIT
// Compares X-ray's rules with an NVIDIA H200. Each row of the three .csv files is a warp whose
// active lanes access s[index], and what the GPU counted for it, kernel by kernel; the kernels were
// those below and in local_patterns.cuh.
//
//   h200_shared_patterns.csv
//     l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld, _st, _atom
//   h200_atomic_and_constant_patterns.csv
//     add_...: l1tex__t_sectors_pipe_lsu_mem_global_op_red, but add_int_old, which uses the
//     result: _atom; constant_...: idc__requests, which counts the kernel's arguments as well
//   h200_local_patterns.csv
//     l1tex__t_sectors_pipe_lsu_mem_local_op_ld, _st
#include "local_patterns.cuh"
#include "xray/model.h"
#include "xray_testing.cuh"

using xray::Operation;
using xray::Space;

namespace {

constexpr unsigned kShared = 1100;  // elements, more than any index

struct Pattern {
  unsigned mask;
  int index[kWarp];
};

struct Row {
  Pattern pattern;
  std::map<std::string, unsigned> counted;  // by column: load_4, store_16, atomic_used, ...
};

std::vector<Row> measured(const char* name, std::size_t patterns, std::size_t kernels) {
  std::ifstream file(std::string("tests/xray/") + name);
  std::string line;
  REQUIRE(std::getline(file, line));
  const std::vector<std::string> names = split(line, ',');
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line, ',');
    REQUIRE(cells.size() == names.size());
    Row row{};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (names[i] == "mask") {
        row.pattern.mask = static_cast<unsigned>(std::stoul(cells[i], nullptr, 16));
      } else if (names[i] == "indices") {
        const std::vector<std::string> indices = split(cells[i], ' ');
        REQUIRE(indices.size() == kWarp);
        for (unsigned lane = 0; lane < kWarp; ++lane) {
          row.pattern.index[lane] = std::stoi(indices[lane]);
        }
      } else if (names[i].find('_') != std::string::npos) {
        row.counted[names[i]] = static_cast<unsigned>(std::stoul(cells[i]));
      }
    }
    rows.push_back(row);
  }
  REQUIRE(rows.size() == patterns);
  REQUIRE(rows.front().counted.size() == kernels);
  return rows;
}

std::vector<Row> measured_shared() { return measured("h200_shared_patterns.csv", 215, 10); }
std::vector<Row> measured_others() {
  return measured("h200_atomic_and_constant_patterns.csv", 40, 7);
}

xray::Request request_of(const Pattern& p, Operation operation, unsigned bytes) {
  xray::Request r;
  r.space = Space::kShared;
  r.operation = operation;
  r.bytes = bytes;
  r.mask = p.mask;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    r.address[lane] = static_cast<std::uint64_t>(p.index[lane]) * bytes;
  }
  return r;
}

// The active lanes' addresses, in words; for 4-byte elements.
Touched words_of(const Pattern& p) {
  return touched(p.mask, 4, [&](unsigned lane) { return 4u * unsigned(p.index[lane]); });
}

template <class T>
__global__ void load_pattern(Pattern p, T* out) {
  __shared__ T s[kShared];
  const unsigned lane = threadIdx.x;
  if ((p.mask >> lane & 1) != 0) out[lane] = s[p.index[lane]];
}

template <class T>
__global__ void store_pattern(Pattern p, const T* from) {
  __shared__ T s[kShared];
  const unsigned lane = threadIdx.x;
  if ((p.mask >> lane & 1) != 0) s[p.index[lane]] = from[lane];
}

__global__ void add_pattern(Pattern p, int* out) {
  __shared__ int s[kShared];
  const unsigned lane = threadIdx.x;
  if ((p.mask >> lane & 1) != 0) {
    out[lane] = atomicAdd(&s[p.index[lane]], static_cast<int>(lane));
  }
}

// One more for each lane, in ways whose cost differs.
enum class Counting {
  kAdd,
  kAddUnsigned,
  kAddBlock,
  kInc,
  kUsed,
  kTwo,
  kMinusOne,
  kSub,
  kArgument,
  kInc10,
  kCas
};

template <Counting kHow>
__global__ void count_pattern(Pattern p, int* out, int one) {
  __shared__ int s[kShared];
  const unsigned lane = threadIdx.x;
  if ((p.mask >> lane & 1) == 0) return;
  int* const counter = &s[p.index[lane]];
  auto* const as_unsigned = reinterpret_cast<unsigned*>(counter);
  if constexpr (kHow == Counting::kAdd) atomicAdd(counter, 1);
  if constexpr (kHow == Counting::kAddUnsigned) ::atomicAdd(as_unsigned, 1u);
  if constexpr (kHow == Counting::kAddBlock) {
    atomicAdd_block(counter, 1);
  }
  if constexpr (kHow == Counting::kInc) atomicInc(as_unsigned, 0xffffffffu);
  if constexpr (kHow == Counting::kUsed) out[lane] = atomicAdd(counter, 1);
  if constexpr (kHow == Counting::kTwo) atomicAdd(counter, 2);
  if constexpr (kHow == Counting::kMinusOne) atomicAdd(counter, -1);
  if constexpr (kHow == Counting::kSub) atomicSub(counter, 1);
  if constexpr (kHow == Counting::kArgument) atomicAdd(counter, one);
  if constexpr (kHow == Counting::kInc10) atomicInc(as_unsigned, 10u);
  if constexpr (kHow == Counting::kCas) atomicCAS(counter, 0, 1);
}

template <class T>
__global__ void add_global_pattern(Pattern p, T* x) {
  const unsigned lane = threadIdx.x;
  if ((p.mask >> lane & 1) != 0) atomicAdd(&x[p.index[lane]], static_cast<T>(lane));
}

__constant__ int words[1024];
__constant__ int2 pairs[1024];
__constant__ char bytes[1024];

__global__ void load_word(Pattern p, int* out) {
  const unsigned lane = threadIdx.x;
  if ((p.mask >> lane & 1) != 0) out[lane] = words[p.index[lane]];
}
__global__ void load_pair(Pattern p, int2* out) {
  const unsigned lane = threadIdx.x;
  if ((p.mask >> lane & 1) != 0) out[lane] = pairs[p.index[lane]];
}
__global__ void load_byte(Pattern p, char* out) {
  const unsigned lane = threadIdx.x;
  if ((p.mask >> lane & 1) != 0) out[lane] = bytes[p.index[lane]];
}

// For each row the GPU counted what the launch counts here, and `more` besides; or the launch
// counts `factor` times as many.
template <class Launch>
void check_counted(const std::vector<Row>& rows, const std::string& column, Space space,
                   Operation operation, std::uint64_t xray::Counts::*count, Launch launch,
                   unsigned more = 0, unsigned factor = 1) {
  const std::vector<xray::Launch> launches = launches_of([&] {
    for (const Row& row : rows) launch(row.pattern);
  });
  REQUIRE(launches.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(column << ", row " << i + 2);
    const xray::Counts c = launches[i].total(space, operation);
    CHECK(c.requests == 1);
    CHECK(c.*count + more == factor * rows[i].counted.at(column));
  }
}

template <class T>
void check_counted_loads(const std::vector<Row>& rows) {
  const DeviceArray<T> out(kWarp);
  check_counted(rows, "load_" + std::to_string(sizeof(T)), Space::kShared, Operation::kLoad,
                &xray::Counts::wavefronts,
                [&](const Pattern& p) { load_pattern<<<1, kWarp>>>(p, out.get()); });
}

template <class T>
void check_counted_stores(const std::vector<Row>& rows) {
  const DeviceArray<T> from(kWarp);
  check_counted(rows, "store_" + std::to_string(sizeof(T)), Space::kShared, Operation::kStore,
                &xray::Counts::wavefronts,
                [&](const Pattern& p) { store_pattern<<<1, kWarp>>>(p, from.get()); });
}

// Wavefronts of counting in shared memory: as the column says, times `factor`.
template <Counting kHow>
void check_counting(const std::vector<Row>& rows, const std::string& column, unsigned factor = 1) {
  INFO("way " << static_cast<int>(kHow));
  const DeviceArray<int> out(kWarp);
  check_counted(
      rows, column, Space::kShared, Operation::kAtomic, &xray::Counts::wavefronts,
      [&](const Pattern& p) { count_pattern<kHow><<<1, kWarp>>>(p, out.get(), 1); }, 0, factor);
}

template <class T>
void check_global_atomics(const std::vector<Row>& rows, const std::string& column) {
  const DeviceArray<T> x(1024);
  check_counted(rows, column, Space::kGlobal, Operation::kAtomic, &xray::Counts::sectors,
                [&](const Pattern& p) { add_global_pattern<<<1, kWarp>>>(p, x.get()); });
}

template <class Launch>
void check_constants(const std::vector<Row>& rows, const std::string& column, Launch launch) {
  // All lanes of the first row read one address; the rest that the GPU counted are arguments.
  const unsigned arguments = rows.front().counted.at(column) - 1;
  check_counted(rows, column, Space::kConstant, Operation::kLoad, &xray::Counts::words, launch,
                arguments);
}

}  // namespace

TEST_CASE("the rule for wavefronts predicts what an H200 counted for every pattern") {
  const std::vector<Row> rows = measured_shared();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("row " << i + 2);
    const Row& row = rows[i];
    for (const unsigned bytes : {1u, 4u, 8u, 16u}) {
      INFO(bytes << " bytes");
      const std::string size = std::to_string(bytes);
      CHECK(xray::passes_of(request_of(row.pattern, Operation::kLoad, bytes)).count ==
            row.counted.at("load_" + size));
      CHECK(xray::passes_of(request_of(row.pattern, Operation::kStore, bytes)).count ==
            row.counted.at("store_" + size));
    }
    CHECK(xray::passes_of(request_of(row.pattern, Operation::kAtomic, 4)).count ==
          row.counted.at("atomic_used"));
  }
}

// An H200, CUDA 13.0: the first four are ATOMS.POPC.INC, which counts the lanes of an address; the
// others are ATOMS.ADD or, the last, ATOMS.CAS.
TEST_CASE("an atomic increment whose result is unused takes a pass for each address of a bank") {
  const std::vector<Row> rows = measured_shared();
  for (const Row& row : rows) {
    INFO("mask " << std::hex << row.pattern.mask);
    CHECK(words_of(row.pattern).conflict() == row.counted.at("atomic_unused"));
  }
  check_counting<Counting::kAdd>(rows, "atomic_unused");
  check_counting<Counting::kAddUnsigned>(rows, "atomic_unused");
  check_counting<Counting::kAddBlock>(rows, "atomic_unused");
  check_counting<Counting::kInc>(rows, "atomic_unused");
}

TEST_CASE("an increment whose result is used, or another step than 1, takes a pass for each lane") {
  const std::vector<Row> rows = measured_shared();
  check_counting<Counting::kUsed>(rows, "atomic_used");
  check_counting<Counting::kTwo>(rows, "atomic_used");
  check_counting<Counting::kMinusOne>(rows, "atomic_used");
  check_counting<Counting::kSub>(rows, "atomic_used");
  check_counting<Counting::kArgument>(rows, "atomic_used");
  check_counting<Counting::kInc10>(rows, "atomic_used");
}

TEST_CASE("a compare-and-swap takes two passes where another atomic takes one") {
  check_counting<Counting::kCas>(measured_shared(), "atomic_used", 2);
}

TEST_CASE("kernels that access shared memory in the patterns are counted as on the H200") {
  const std::vector<Row> rows = measured_shared();
  check_counted_loads<char>(rows);
  check_counted_loads<int>(rows);
  check_counted_loads<int2>(rows);
  check_counted_loads<int4>(rows);
  check_counted_stores<char>(rows);
  check_counted_stores<int>(rows);
  check_counted_stores<int2>(rows);
  check_counted_stores<int4>(rows);
  const DeviceArray<int> out(kWarp);
  check_counted(rows, "atomic_used", Space::kShared, Operation::kAtomic, &xray::Counts::wavefronts,
                [&](const Pattern& p) { add_pattern<<<1, kWarp>>>(p, out.get()); });
}

TEST_CASE("atomics in global memory ask for the sectors that an H200 counted") {
  const std::vector<Row> rows = measured_others();
  check_global_atomics<int>(rows, "add_int");
  check_global_atomics<int>(rows, "add_int_old");
  check_global_atomics<unsigned long long>(rows, "add_long");
  check_global_atomics<float>(rows, "add_float");
}

TEST_CASE("constant loads fetch as many addresses as an H200 counted") {
  const std::vector<Row> rows = measured_others();
  REQUIRE(rows.front().pattern.mask == kAllLanes);
  const DeviceArray<int> word(kWarp);
  const DeviceArray<int2> pair(kWarp);
  const DeviceArray<char> byte(kWarp);
  check_constants(rows, "constant_4",
                  [&](const Pattern& p) { load_word<<<1, kWarp>>>(p, word.get()); });
  check_constants(rows, "constant_8",
                  [&](const Pattern& p) { load_pair<<<1, kWarp>>>(p, pair.get()); });
  check_constants(rows, "constant_1",
                  [&](const Pattern& p) { load_byte<<<1, kWarp>>>(p, byte.get()); });
}

#if !defined(__clang__)  // which does not report accesses to local memory

namespace {

local_patterns::Pattern local_pattern(const Pattern& p) {
  local_patterns::Pattern local{p.mask, {}};
  std::copy(p.index, p.index + kWarp, local.index);
  return local;
}

template <class T>
void check_counted_local(const std::vector<Row>& rows) {
  constexpr int kElements = local_patterns::kElements;
  const DeviceArray<T> out(kWarp * kElements);
  const std::string bytes = std::to_string(sizeof(T));
  check_counted(rows, "load_" + bytes, Space::kLocal, Operation::kLoad, &xray::Counts::sectors,
                [&](const Pattern& p) {
                  local_patterns::load_own<<<1, kWarp>>>(local_pattern(p), out.get(), kElements);
                });
  check_counted(rows, "store_" + bytes, Space::kLocal, Operation::kStore, &xray::Counts::sectors,
                [&](const Pattern& p) {
                  local_patterns::store_own<<<1, kWarp>>>(local_pattern(p), out.get(), kElements);
                });
}

}  // namespace

TEST_CASE("local memory costs the sectors that the H200 counted") {
  const std::vector<Row> rows = measured("h200_local_patterns.csv", 68, 10);
  check_counted_local<unsigned char>(rows);
  check_counted_local<short>(rows);
  check_counted_local<int>(rows);
  check_counted_local<double>(rows);
  check_counted_local<int4>(rows);
}

#endif
