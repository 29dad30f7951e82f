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
    return all_equal(name, words.download().data(), values.data(), values.size());
  }
};

// One row: the time at one word of global memory. All four rates, in 10^9 per second, are noted.
template <Op kOp, class T>
void add_row(ResultTable& table, const Options& opt, const char* name, unsigned grid,
             std::size_t block) {
  if (!table.wants(name)) return;
  std::string rates = name;
  bool ok = true;
  Timing t;
  for (const bool shared : {true, false}) {
    for (const bool one_word : {false, true}) {
      const unsigned turns = one_word || !kOnGpu ? 16 : 1024;  // fewer where it is slow
      const auto b = static_cast<unsigned>(block);
      const Words<kOp, T> words = {shared, one_word, turns, grid, b};
      words.launch();
      ok = words.are_right(name) && ok;
      t = time_launches(opt.samples, [&] { words.launch(); });
      ok = words.are_right(name) && ok;
      const double rate = 1e-6 * turns * grid * b / t.median_ms;
      const std::string where = shared ? "shared: " : "global: ";
      table.measured(name, rate, where + (one_word ? "one word" : "own words"), "");
      rates += " · " + where + (one_word ? "one word " : "own words ") + digits_text(rate);
    }
  }
  table.row(name, t, 0, ok);
  if (kOnGpu) table.note(rates);
}

int main(int argc, char** argv) {
  std::size_t block = 512;
  const Options opt(argc, argv, "10_atomic_operations", "how fast is each atomic function?",
                    {{"block", &block, 1, kMaxBlock, "threads per block"}});
  open_device(opt);
  const unsigned grid = blocks_held(in_shared<kAdd, int>, block);
  ResultTable table(opt, 2 * sizeof(Wide) * grid * block);
  table.without_speedup();  // not the same work
  add_row<kAdd, int>(table, opt, "add int", grid, block);
  add_row<kAddOne, int>(table, opt, "add 1 to int", grid, block);
  add_row<kAdd, Wide>(table, opt, "add 64-bit", grid, block);
  add_row<kAdd, float>(table, opt, "add float", grid, block);
  add_row<kAdd, double>(table, opt, "add double", grid, block);
  add_row<kSub, int>(table, opt, "sub int", grid, block);
  add_row<kInc, unsigned>(table, opt, "inc unsigned", grid, block);
  add_row<kDec, unsigned>(table, opt, "dec unsigned", grid, block);
  add_row<kMin, int>(table, opt, "min int", grid, block);
  add_row<kMin, Wide>(table, opt, "min 64-bit", grid, block);
  add_row<kMax, int>(table, opt, "max int", grid, block);
  add_row<kMax, Wide>(table, opt, "max 64-bit", grid, block);
  add_row<kAnd, unsigned>(table, opt, "and unsigned", grid, block);
  add_row<kAnd, Wide>(table, opt, "and 64-bit", grid, block);
  add_row<kOr, unsigned>(table, opt, "or unsigned", grid, block);
  add_row<kOr, Wide>(table, opt, "or 64-bit", grid, block);
  add_row<kXor, unsigned>(table, opt, "xor unsigned", grid, block);
  add_row<kXor, Wide>(table, opt, "xor 64-bit", grid, block);
  add_row<kExch, int>(table, opt, "exch int", grid, block);
  add_row<kExch, float>(table, opt, "exch float", grid, block);
  add_row<kExch, Wide>(table, opt, "exch 64-bit", grid, block);
  add_row<kCas, unsigned>(table, opt, "CAS unsigned", grid, block);
  add_row<kCas, Wide>(table, opt, "CAS 64-bit", grid, block);
  return table.finish();
}
