// SPDX-License-Identifier: MIT
// How fast is each atomic function, at a word of its own for each thread and where all meet at one?

#include "../../../common/common.cuh"

using Wide = unsigned long long;
constexpr unsigned kMaxBlock = 1024, kCountTo = 1000;
enum Op { kAdd, kAddOne, kSub, kExch, kMin, kMax, kInc, kDec, kCas, kAnd, kOr, kXor };

// What a thread does to a word in turn k. A thread's own word shows each step, and a common one
// counts them all, or ends the same in whatever order they come.
template <Op kOp, class T>
__device__ void apply(T* w, unsigned k) {
  if constexpr (kOp == kAdd) atomicAdd(w, T(2 + k % 2));
  if constexpr (kOp == kAddOne) atomicAdd(w, 1);  // shared memory counts lanes for a constant 1
  if constexpr (kOp == kSub) atomicSub(w, T(2 + k % 2));
  if constexpr (kOp == kExch) atomicExch(w, T(k + 1));
  if constexpr (kOp == kMin) atomicMin(w, T(T(0) - T(k) - T(2)));
  if constexpr (kOp == kMax) atomicMax(w, T(k + 1));
  if constexpr (kOp == kInc) atomicInc(w, kCountTo);
  if constexpr (kOp == kDec) atomicDec(w, kCountTo);
  if constexpr (kOp == kCas) atomicCAS(w, T(k), T(k + 1));  // in turn k the word is k or more
  if constexpr (kOp == kAnd) atomicAnd(w, T(~T(k + 1)));
  if constexpr (kOp == kOr) atomicOr(w, T(k + 1));
  if constexpr (kOp == kXor) atomicXor(w, T(k + 1));
}

// `spread` is 1 (own words) or 0 (one word): a compiler that knew which might add up the lanes
// first.
template <Op kOp, class T>
__global__ void in_global(T* words, unsigned turns, unsigned spread) {
  auto* const word = &words[(blockIdx.x * blockDim.x + threadIdx.x) * spread];
  for (unsigned k = 0; k < turns; ++k) apply<kOp>(word, k);
}

template <Op kOp, class T>
__global__ void in_shared(const T* fresh, T* words, unsigned turns, unsigned spread) {
  __shared__ T here[kMaxBlock];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  here[threadIdx.x] = fresh[i];
  __syncthreads();  // others may begin with the word that this thread has just set
  auto* const word = &here[threadIdx.x * spread];
  for (unsigned k = 0; k < turns; ++k) apply<kOp>(word, k);
  __syncthreads();  // others may still be changing the word that this thread hands back
  words[i] = here[threadIdx.x];
}

// What turn k makes of a word, without atomics.
template <Op kOp, class T>
T after(T old, unsigned k) {
  if constexpr (kOp == kAdd) return old + T(2 + k % 2);
  if constexpr (kOp == kAddOne) return old + 1;
  if constexpr (kOp == kSub) return old - T(2 + k % 2);
  if constexpr (kOp == kExch) return T(k + 1);
  if constexpr (kOp == kMin) return std::min(old, T(T(0) - T(k) - T(2)));
  if constexpr (kOp == kMax) return std::max(old, T(k + 1));
  if constexpr (kOp == kInc) return old == kCountTo ? 0 : old + 1;
  if constexpr (kOp == kDec) return old == 0 ? kCountTo : old - 1;
  if constexpr (kOp == kCas) return old == T(k) ? T(k + 1) : old;
  if constexpr (kOp == kAnd) return old & T(~T(k + 1));
  if constexpr (kOp == kOr) return old | T(k + 1);
  if constexpr (kOp == kXor) return old ^ T(k + 1);
}

// A word for each thread, fresh before a launch; after it, what one thread after the other leaves.
template <Op kOp, class T>
struct Words {
  bool shared, one_word;
  unsigned turns, grid, block;
  T begin = kOp == kMin || kOp == kAnd ? T(-1) : T(0);
  DeviceArray<T> fresh{std::vector<T>(std::size_t{grid} * block, begin)}, words{fresh.size()};
  void launch() const {
    const unsigned spread = one_word ? 0 : 1;
    if (shared) in_shared<kOp><<<grid, block>>>(fresh.get(), words.get(), turns, spread);
    if (shared) return CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpyAsync(words, fresh, words.bytes(), cudaMemcpyDeviceToDevice));
    in_global<kOp><<<grid, block>>>(words.get(), turns, spread);
    CUDA_CHECK_LAUNCH();
  }
  bool are_right(const std::string& name) const {
    const std::size_t meet = !one_word ? 1 : shared ? block : words.size();  // at a word
    T last = begin;
    for (std::size_t i = 0; i < meet * turns; ++i) last = after<kOp>(last, i % turns);
    std::vector<T> values(words.size(), begin);
    for (std::size_t i = 0; i < values.size(); i += meet) values[i] = last;
    return all_equal(name, words.download(), values);
  }
};

// One row: the time at one word of global memory. All four rates, in 10^9 per second, are noted.
template <Op kOp, class T>
void add_row(ResultTable& table, const std::string& name, unsigned grid, unsigned block) {
  if (!table.wants(name)) return;
  std::string rates = name;
  bool ok = true;
  Timing t;
  for (const bool shared : {true, false}) {
    for (const bool one_word : {false, true}) {
      const unsigned turns = one_word || !kOnGpu ? 16 : 1024;  // fewer where it is slow
      const Words<kOp, T> words = {shared, one_word, turns, grid, block};
      words.launch();
      ok = words.are_right(name) && ok;
      t = time_launches(table.opt.samples, [&] { words.launch(); });
      ok = words.are_right(name) && ok;
      const double rate = 1e-6 * turns * grid * block / t.median_ms;
      const std::string where =
          text(shared ? "shared: " : "global: ", one_word ? "one word" : "own words");
      table.measured(name, rate, where);
      rates += text(" · ", where, ' ', rate);
    }
  }
  table.row(name, t, 0, ok);
  if (kOnGpu) table.note(rates);
}

constexpr const char* name_of(int) { return " int"; }
constexpr const char* name_of(unsigned) { return " unsigned"; }
constexpr const char* name_of(Wide) { return " 64-bit"; }
constexpr const char* name_of(float) { return " float"; }
constexpr const char* name_of(double) { return " double"; }

template <Op kOp, class... Types>
void add_rows(ResultTable& table, const std::string& operation, unsigned grid, unsigned block) {
  (add_row<kOp, Types>(table, operation + name_of(Types{}), grid, block), ...);
}

int main(int argc, char** argv) {
  std::size_t block = 512;
  const Options opt(argc, argv, "10_atomic_operations", "how fast is each atomic function?",
                    {{"block", &block, 1, kMaxBlock, "threads per block"}});
  open_device(opt);
  const unsigned grid = blocks_held(in_shared<kAdd, int>, block);
  ResultTable table(opt, 2 * sizeof(Wide) * grid * block);
  table.without_speedup();  // not the same work
  add_rows<kAdd, int>(table, "add", grid, block);
  add_rows<kAddOne, int>(table, "add 1 to", grid, block);
  add_rows<kAdd, Wide, float, double>(table, "add", grid, block);
  add_rows<kSub, int>(table, "sub", grid, block);
  add_rows<kInc, unsigned>(table, "inc", grid, block);
  add_rows<kDec, unsigned>(table, "dec", grid, block);
  add_rows<kMin, int, Wide>(table, "min", grid, block);
  add_rows<kMax, int, Wide>(table, "max", grid, block);
  add_rows<kAnd, unsigned, Wide>(table, "and", grid, block);
  add_rows<kOr, unsigned, Wide>(table, "or", grid, block);
  add_rows<kXor, unsigned, Wide>(table, "xor", grid, block);
  add_rows<kExch, int, float, Wide>(table, "exch", grid, block);
  add_rows<kCas, unsigned, Wide>(table, "CAS", grid, block);
  return table.finish();
}
