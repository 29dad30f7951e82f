// SPDX-License-Identifier: MIT
// Chapter 16's product beside cublasLt, as CSV: one process.
//
//   nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a
//   common/tools/measure/beside_cublaslt.cu -o beside -lcublasLt
//   ./beside SEED COUNT [check|rounded|ours|plans]
//   ./beside ladder
//   ./beside MxNxK 1 [check|rounded|ours|plans|library]
//
// Sides are multiples of 8 from 64 to 16384, log-uniform; two of three shapes have a side under
// 1024. Seed 0: squares from 1024 to 16384.
//
// Ours and the fastest of the algorithms that cublasLt offers when it is asked for 64 take turns,
// launch by launch. All launches of a shape are queued behind a kernel that waits, so that the
// host's time is not measured. A ratio is the median of 21 (their time over ours, of the same
// round), of 11 where a product is large; between low and high lies the middle half of them.
// "check" compares both products with one in FP32; so does "rounded", where cublasLt may also round
// sums of parts to BF16 before it adds them; "ours" and "library" launch only one of them, for
// compute-sanitizer and profilers; "plans" times plans of all tiles, which fit_tensor_tiles.py
// fits choice.cuh to. "ladder": all versions of the program take turns at five sizes; and each is
// launched for a third of a second, and at least ten times, behind which a thread counts clocks.
#include "../../common.cuh"

#define main program_main
#include "../../../chapters/16_tensor_cores/tensor_cores.cu"
#undef main

#include "turns.cuh"

struct Shape {
  unsigned m, n, k;
};

unsigned side_between(std::mt19937_64& random, double from, double below) {
  return log_uniform(random, from, below) / 8 * 8;
}

std::vector<Shape> shapes_of(unsigned seed, unsigned count) {
  std::vector<Shape> shapes;
  if (seed == 0) {
    for (unsigned side = 1024; side <= 16384 && shapes.size() < count; side *= 2)
      shapes.push_back({side, side, side});
    return shapes;
  }
  std::mt19937_64 random(seed);
  for (unsigned i = 0; i < count; ++i) {
    unsigned s[3];
    for (unsigned& side : s) side = side_between(random, i % 3 == 0 ? 1024 : 64, 16385);
    if (i % 3 != 0) s[random() % 3] = side_between(random, 64, 1024);
    shapes.push_back({s[0], s[1], s[2]});
  }
  return shapes;
}

// The largest error of an element over what it may be: of C 2^-8, and of the sums a ten-thousandth
// of sqrt(k).
__global__ void largest_error(Bf16Matrix a, Bf16Matrix b, Bf16Matrix c, float* worst) {
  const unsigned column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (row >= c.height || column >= c.width) return;
  float sum = 0;
  for (unsigned k = 0; k < a.width; ++k)
    sum += __bfloat162float(a.at(row, k)) * __bfloat162float(b.at(k, column));
  float error = fabsf(sum - __bfloat162float(c.at(row, column))) /
                (fabsf(sum) * 0x1p-8f + 1e-4f * sqrtf(static_cast<float>(a.width)));
  if (!(error < 1e30f)) error = 1e30f;
  atomicMax(reinterpret_cast<int*>(worst), __float_as_int(error));
}
float error_of(const TensorProduct& p) {
  const DeviceArray<float> worst(1);
  CUDA_CHECK(cudaMemset(worst, 0, sizeof(float)));
  const dim3 grid(blocks_for(p.c.width, 32), blocks_for(p.c.height, 8));
  largest_error<<<grid, dim3(32, 8)>>>(p.a, p.b, p.c, worst);
  CUDA_CHECK_LAUNCH();
  return worst.download()[0];
}

// Nanoseconds and clocks of one thread.
struct Clocks {
  unsigned long long begin_ns, end_ns;
  long long begin, end;
};
__device__ unsigned long long now_ns() {
  unsigned long long ns = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}
__global__ void count_clocks(Clocks* clocks, unsigned long long ns) {
  clocks->begin_ns = now_ns(), clocks->begin = clock64();
  while (now_ns() - clocks->begin_ns < ns) continue;
  clocks->end_ns = now_ns(), clocks->end = clock64();
}

// How long one launch takes while `launch` runs again and again, and the clock of a multiprocessor
// in the 200 microseconds behind the last. That is not the clock of the kernel: once the tensor
// cores have stopped it is higher, by a tenth where power was no limit (chapter 16's lab notes).
struct Sustained {
  double mhz, ms;
};
Sustained sustain(const Launch& launch, double ms_of_one) {
  const DeviceArray<Clocks> clocks(1);
  const int launches = std::max(10, static_cast<int>(330 / ms_of_one));
  EventTimer timer;
  for (int i = 0; i < launches / 3; ++i) launch();
  timer.start();
  for (int i = 0; i < launches; ++i) launch();
  count_clocks<<<1, 1>>>(clocks, 200000);
  const double ms = (timer.stop_ms() - 0.2) / launches;
  const Clocks seen = clocks.download()[0];
  return {1e3 * static_cast<double>(seen.end - seen.begin) /
              static_cast<double>(seen.end_ns - seen.begin_ns),
          ms};
}

// All plans that are worth a try.
std::vector<Plan> plans_of(const TensorProduct& p) {
  std::vector<Plan> plans;
  const unsigned m = p.c.height, n = p.c.width, k = p.a.width;
  for (unsigned tile = 0; tile < std::size(kTileTimes); ++tile) {
    const TileTimes& t = kTileTimes[tile];
    if (t.rows >= 2 * m && t.rows > 64 && t.turned) continue;
    const std::size_t tiles = div_up(m, t.rows) * div_up(n, t.columns);
    const std::size_t most =
        std::max<std::size_t>(1, std::min(2 * p.sms / tiles, div_up(k, 64) / 2));
    for (unsigned parts = 1; parts <= most; parts = parts < 4 ? parts + 1 : parts + parts / 3)
      plans.push_back(plan_of(m, n, k, p.sms, tile, parts));
  }
  return plans;
}

int main(int argc, char** argv) {
  const Device device = describe_device(0);
  const std::string first = argc > 1 ? argv[1] : "0", mode = argc > 3 ? argv[3] : "";
  const bool ladder = first == "ladder";
  const unsigned seed = ladder ? 0 : static_cast<unsigned>(std::atoi(first.c_str()));
  const unsigned count = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 100;
  const std::size_t most = std::size_t{16384} * 16384;
  const DeviceArray<Bf16> values_a(most), values_b(most), values_c(most);
  const auto sms = static_cast<unsigned>(device.multiProcessorCount);
  fill<Bf16><<<1000, 256>>>(values_a, most, 1);
  fill<Bf16><<<1000, 256>>>(values_b, most, 7);
  const std::string where = std::string(device.name) + "," + version_text(device.runtime_version);
  if (ladder) {
    std::puts("version,m,n,k,us,library_us,over_library,low,high,sustained_us,mhz,device,cuda");
  } else if (mode == "plans") {
    std::puts(
        "seed,m,n,k,tile,rows,columns,down,across,turned,parts,predicted_us,us,library_us,error,"
        "device,"
        "cuda");
  } else if (mode != "ours" && mode != "library") {
    std::puts(
        "seed,m,n,k,rows,columns,down,across,parts,predicted_us,us,library_us,over_library,low,"
        "high,offered,error,best_us,best_over_library,library_parts,library_reduction,"
        "library_error,device,cuda");
  }
  Shape one = {};
  const bool is_one = std::sscanf(first.c_str(), "%ux%ux%u", &one.m, &one.n, &one.k) == 3;
  for (const Shape& s : is_one ? std::vector<Shape>{one} : shapes_of(seed, count)) {
    TensorProduct p(1, 1, 1, 1);  // its own matrices are not used
    p.a = {values_a, s.m, s.k, s.k}, p.b = {values_b, s.k, s.n, s.n},
    p.c = {values_c, s.m, s.n, s.n};
    p.sms = sms;
    const Plan plan = choose(p);
    const Launch ours = [&] { launch_plan(p, plan); };
    if (mode == "ours") {
      ours();
      CUDA_CHECK_LAUNCH();
      continue;
    }
    const LibraryProduct library(p, mode == "rounded");
    const bool is_large = p.amount() > 4e11;
    std::vector<Launch> algorithms;
    for (std::size_t i = 0; i < library.offered(); ++i)
      algorithms.emplace_back([&library, i] { library.launch(i); });
    const std::size_t best = fastest_of(algorithms, is_large ? 3 : 7);
    const Launch theirs = [&] { library.launch(best); };
    if (mode == "library") {
      theirs();
      CUDA_CHECK_LAUNCH();
      continue;
    }
    if (ladder) {
      std::vector<std::pair<const char*, Launch>> ways = {{"cublaslt", theirs}};
      for (const Rung& rung : kRungs)
        ways.emplace_back(rung.version.name, [&] { rung.version.launch(p); });
      std::vector<Launch> launches;
      for (const auto& [name, launch] : ways) launches.push_back(launch), launch();
      const auto ms = take_turns(launches, is_large ? 11 : kRounds);
      for (std::size_t way = 0; way < ways.size(); ++way) {
        const auto of = ratios(ms[0], ms[way]);
        const auto [mhz, each] = sustain(launches[way], median_of(ms[way]));
        std::printf("%s,%u,%u,%u,%.2f,%.2f,%.3f,%.3f,%.3f,%.2f,%.0f,%s\n", ways[way].first, s.m,
                    s.n, s.k, 1e3 * median_of(ms[way]), 1e3 * median_of(ms[0]), of[of.size() / 2],
                    of[of.size() / 4], of[of.size() * 3 / 4], 1e3 * each, mhz, where.c_str());
      }
    } else if (mode == "plans") {
      std::vector<Launch> launches = {theirs};
      const std::vector<Plan> plans = plans_of(p);
      for (const Plan& each : plans) launches.emplace_back([&] { launch_plan(p, each); });
      std::vector<float> errors;
      for (const auto& launch : launches) {
        CUDA_CHECK(cudaMemset(p.c.data, 0xff, std::size_t{s.m} * s.n * sizeof(Bf16)));
        launch();
        errors.push_back(is_large ? -1 : error_of(p));
      }
      const auto ms = take_turns(launches, is_large ? 3 : 7, true);
      for (std::size_t i = 0; i < plans.size(); ++i) {
        const TileTimes& t = kTileTimes[plans[i].tile];
        std::printf("%u,%u,%u,%u,%u,%u,%u,%u,%u,%d,%u,%.2f,%.2f,%.2f,%.3f,%s\n", seed, s.m, s.n,
                    s.k, plans[i].tile, t.rows, t.columns, t.down, t.across, t.turned,
                    plans[i].parts, plans[i].us, 1e3 * median_of(ms[i + 1]), 1e3 * median_of(ms[0]),
                    errors[i + 1], where.c_str());
      }
    } else {
      float errors[2] = {-1, -1};
      for (const bool is_library : {false, true}) {
        CUDA_CHECK(cudaMemset(p.c.data, 0xff, std::size_t{s.m} * s.n * sizeof(Bf16)));
        is_library ? theirs() : ours();
        CUDA_CHECK_LAUNCH();
        if (mode == "check" || mode == "rounded") errors[is_library] = error_of(p);
      }
      // As the library's algorithms were tried, so are eight plans.
      std::vector<Launch> tried;
      for (const Plan& each : best_plans(s.m, s.n, s.k, sms, true, 8))
        tried.emplace_back([&p, each] { launch_plan(p, each); });
      const Launch& best_of_ours = tried[fastest_of(tried, is_large ? 3 : 7)];
      const auto ms = take_turns({ours, theirs, best_of_ours}, is_large ? 11 : kRounds);
      const auto of = ratios(ms[1], ms[0]), best_of = ratios(ms[1], ms[2]);
      const TileTimes& t = kTileTimes[plan.tile];
      const PartsOfLibrary parts = library.parts_of(best);
      std::printf(
          "%u,%u,%u,%u,%u,%u,%u,%u,%u,%.2f,%.2f,%.2f,%.3f,%.3f,%.3f,%zu,%.3f,%.2f,%.3f,%d,%u,%.3f,"
          "%s\n",
          seed, s.m, s.n, s.k, t.rows, t.columns, t.down, t.across, plan.parts, plan.us,
          1e3 * median_of(ms[0]), 1e3 * median_of(ms[1]), of[of.size() / 2], of[of.size() / 4],
          of[of.size() * 3 / 4], library.offered(), errors[0], 1e3 * median_of(ms[2]),
          best_of[best_of.size() / 2], parts.count, parts.reduction, errors[1], where.c_str());
    }
    std::fflush(stdout);
  }
}
