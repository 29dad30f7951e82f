// SPDX-License-Identifier: MIT
// Chapter 15's product beside cuBLAS, over shapes drawn by a seed, as CSV: one process.
//
//   nvcc -O3 -std=c++17 -arch=native common/tools/measure/beside_cublas.cu -o beside -lcublas
//   -lcublasLt
//   ./beside SEED COUNT [check|names|ours]
//   ./beside chapters
//   ./beside ladder
//
// A third of the shapes has sides that are multiples of 128, a third odd ones, both log-uniform
// from 1 to 8192; of the last third one or two sides are under 128, log-uniform from 1, the others
// from 128 to 8192. Seed 0: the shapes that the notes name.
//
// Three ways take turns, launch by launch, and the order rotates: by_shape, cublasSgemm in its
// default mode (FP32, no TF32), and the fastest of the algorithms that cublasLt's heuristic names
// when it is asked for 64. All launches of a shape are queued behind a kernel that waits, so that
// the host's time is not measured. A ratio is the median of 21 (their time over ours, of the same
// round), its interval the 6th and the 16th of them: 95 %.
// "check" compares each product with one in double; "names" only launches cuBLAS, for a profiler,
// "ours" only by_shape, for compute-sanitizer.
// "chapters": the best kernels of chapters 07 and 08, and of chapter 15 large tiles and its choice,
// take turns with cublasSgemm in the same way. "ladder": all versions of chapter 14 do.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_pipeline.h>

#include "../../common.cuh"

#define main program_main
namespace naive {
#include "../../../chapters/07_naive_matmul/experiments/beside_cublas.cu"
}
namespace tiled {
#include "../../../chapters/08_tiled_matmul/tiled_matmul.cu"
}
namespace ladder {
#include "../../../chapters/14_matmul_at_the_limit/matmul_at_the_limit.cu"
}
#undef main
#define main by_shape_main
#include "../../../chapters/15_matmul_of_any_shape/experiments/by_shape.cu"
#undef main

#include <array>

#include "turns.cuh"

struct Shape {
  unsigned m, n, k;
  const char* kind;
};

std::vector<Shape> shapes_of(unsigned seed, unsigned count) {
  if (seed == 0) {
    std::vector<Shape> named;
    for (const unsigned side :
         {512u, 768u, 1024u, 1536u, 2048u, 3000u, 3072u, 4096u, 5120u, 6144u, 8192u})
      named.push_back({side, side, side, "named"});
    for (const auto& [m, n, k] : std::vector<std::array<unsigned, 3>>{{4096, 64, 4096},
                                                                      {64, 4096, 4096},
                                                                      {128, 128, 65536},
                                                                      {2047, 2049, 511},
                                                                      {1000, 1013, 997},
                                                                      {16, 4096, 4096},
                                                                      {1, 4096, 4096},
                                                                      {4096, 1, 4096},
                                                                      {4096, 11008, 4096},
                                                                      {256, 11008, 4096},
                                                                      {8191, 8191, 8191},
                                                                      {4096, 4096, 64}})
      named.push_back({m, n, k, "named"});
    return named;
  }
  std::mt19937_64 random(seed);
  std::vector<Shape> shapes;
  for (unsigned i = 0; i < count; ++i) {
    unsigned s[3];
    for (unsigned& side : s) {
      if (i % 3 == 0) side = 128 * log_uniform(random, 1, 65);
      if (i % 3 == 1) side = (log_uniform(random, 1, 8193) - 1) | 1;
      if (i % 3 == 2) side = log_uniform(random, 128, 8193);
    }
    if (i % 3 == 2) {
      const unsigned thin = 1 + static_cast<unsigned>(random() % 2);
      const auto first = static_cast<unsigned>(random() % 3);
      for (unsigned t = 0; t < thin; ++t) s[(first + t) % 3] = log_uniform(random, 1, 128);
    }
    const char* const kinds[] = {"128s", "odd", "thin"};
    shapes.push_back({s[0], s[1], s[2], kinds[i % 3]});
  }
  return shapes;
}

// The largest error of an element over u k sqrt(k), which is 3 sqrt(k) u times the lengths of a row
// and a column of uniform numbers from -1 to 1.
__global__ void largest_error(Matrix a, Matrix b, Matrix c, float* worst) {
  const unsigned column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (row >= c.height || column >= c.width) return;
  double sum = 0;
  for (unsigned k = 0; k < a.width; ++k) sum += double(a.at(row, k)) * b.at(k, column);
  float error = static_cast<float>(fabs(sum - c.at(row, column)) * 16777216.0 /
                                   (sqrt(double(a.width)) * (a.width + 8.0)));
  if (!(error < 1e30f)) error = 1e30f;
  atomicMax(reinterpret_cast<int*>(worst), __float_as_int(error));
}

// Everything that a matrix of cublasLt needs to be named by.
cublasLtMatrixLayout_t layout(unsigned rows, unsigned columns) {
  cublasLtMatrixLayout_t it = nullptr;
  ensure(cublasLtMatrixLayoutCreate(&it, CUDA_R_32F, rows, columns, rows), "cublasLtMatrixLayout");
  return it;
}

// The version `name` of a chapter's program.
template <class Versions>
const auto& version_named(const Versions& versions, const std::string& name) {
  return *std::find_if(std::begin(versions), std::end(versions),
                       [&](const auto& v) { return name == v.name; });
}

using Way = std::pair<const char*, Launch>;

// A line of CSV for each of `ways` but the first, which is cuBLAS. They take turns.
void compare(const std::vector<Way>& ways, std::size_t side, const Device& device) {
  std::vector<Launch> launches;
  for (const auto& [name, launch] : ways) launches.push_back(launch), launch();
  const auto ms = take_turns(launches, kRounds);
  for (std::size_t way = 1; way < ways.size(); ++way) {
    const auto of_cublas = ratios(ms[0], ms[way]);
    std::printf("%s,%zu,%zu,%zu,%.2f,%.2f,%.3f,%.3f,%.3f,%s,%s\n", ways[way].first, side, side,
                side, 1e3 * median_of(ms[way]), 1e3 * median_of(ms[0]), of_cublas[10], of_cublas[5],
                of_cublas[15], device.name, version_text(device.runtime_version).c_str());
  }
}
const char* const kColumnsOfCompare = "version,m,n,k,us,cublas_us,over_cublas,low,high,device,cuda";

void compare_chapters(const Device& device) {
  const unsigned sms = device.multiProcessorCount;
  std::puts(kColumnsOfCompare);
  for (const std::size_t side : {1024, 2048, 4096}) {
    const MatrixProduct product(side, side, side, 1);
    const ShapedProduct shaped{{side, side, side, 1}, sms};
    const auto version = [&](const auto& v) { return Way(v.name, [&] { v.launch(product); }); };
    compare({{"cublas", [&] { multiply_by_cublas(product.a, product.b, product.c); }},
             version(version_named(naive::kVersions, "columns_along_x")),
             version(version_named(tiled::kVersions, "micro_tile_wide")),
             {"whole_tiles", [&] { launch_whole_tiles(shaped); }},
             {"by_shape", [&] { launch_by_shape(shaped); }}},
            side, device);
  }
}

void compare_ladder(const Device& device) {
  std::puts(kColumnsOfCompare);
  MatrixProduct product(1, 1, 1, 1);  // its own matrices are not used
  const std::size_t most = std::size_t{8} << 10;
  const DeviceArray<float> a(most * most), b(most * most), c(most * most);
  fill<float><<<1000, 256>>>(a, most * most, 1);
  fill<float><<<1000, 256>>>(b, most * most, 7);
  for (std::size_t side = 1024; side <= most; side *= 2) {
    product.a = dense_matrix(a, side, side);
    product.b = dense_matrix(b, side, side);
    product.c = dense_matrix(c, side, side);
    std::vector<Way> ways = {
        {"cublas", [&] { multiply_by_cublas(product.a, product.b, product.c); }}};
    for (const auto& version : ladder::kVersions)
      if (version.name != std::string("cublas"))
        ways.emplace_back(version.name, [&] { version.launch(product); });
    compare(ways, side, device);
  }
}

int main(int argc, char** argv) {
  const Device device = describe_device(0);
  if (argc > 1 && argv[1] == std::string("chapters")) return compare_chapters(device), 0;
  if (argc > 1 && argv[1] == std::string("ladder")) return compare_ladder(device), 0;
  const unsigned seed = argc > 1 ? std::atoi(argv[1]) : 30,
                 count = argc > 2 ? std::atoi(argv[2]) : 200;
  const std::string mode = argc > 3 ? argv[3] : "";
  const std::size_t most = std::size_t{100} << 20, room = std::size_t{64} << 20;
  const DeviceArray<float> values_a(most), values_b(most), values_c(most), worst(1);
  const DeviceArray<char> workspace(room);
  const unsigned sms = device.multiProcessorCount;
  fill<float><<<1000, 256>>>(values_a, most, 1);
  fill<float><<<1000, 256>>>(values_b, most, 7);
  cublasHandle_t handle = nullptr;
  cublasLtHandle_t lt = nullptr;
  ensure(cublasCreate(&handle), "cublasCreate");
  ensure(cublasLtCreate(&lt), "cublasLtCreate");
  const float one = 1, zero = 0;
  if (mode != "names" && mode != "ours")
    std::puts(
        "seed,kind,m,n,k,way,tile,parts,copies,predicted_us,us,default_us,lt_us,over_default,"
        "low,high,over_lt,lt_low,lt_high,lt_found,error,device,cuda");
  for (const Shape& s : shapes_of(seed, count)) {
    const unsigned m = s.m, n = s.n, k = s.k;
    const auto by_default = [&] {
      ensure(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, values_b, n, values_a, k,
                         &zero, values_c, n),
             "cublasSgemm");
    };
    if (mode != "ours") by_default();
    if (mode == "names") continue;
    MatrixProduct large(1, 1, 1, 1);  // its own matrices are not used
    large.a = {values_a, m, k, k}, large.b = {values_b, k, n, n}, large.c = {values_c, m, n, n};
    const ShapedProduct p{std::move(large), sms};
    const Plan& plan = p.plan;
    const auto ours = [&] { launch_by_shape(p); };
    if (mode == "ours") {
      ours();
      CUDA_CHECK_LAUNCH();
      continue;
    }

    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatmulPreference_t preference = nullptr;
    ensure(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLt");
    ensure(cublasLtMatmulPreferenceCreate(&preference), "cublasLt");
    ensure(cublasLtMatmulPreferenceSetAttribute(
               preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room),
           "cublasLt");
    const cublasLtMatrixLayout_t la = layout(n, k), lb = layout(k, m), lc = layout(n, m);
    std::vector<cublasLtMatmulHeuristicResult_t> found(64);
    int algorithms = 0;
    ensure(cublasLtMatmulAlgoGetHeuristic(lt, product, la, lb, lc, lc, preference, 64, found.data(),
                                          &algorithms),
           "cublasLtMatmulAlgoGetHeuristic");
    const auto by_lt = [&](std::size_t i) {
      ensure(cublasLtMatmul(lt, product, &one, values_b, la, values_a, lb, &zero, values_c, lc,
                            values_c, lc, &found[i].algo, workspace, room, nullptr),
             "cublasLtMatmul");
    };
    std::vector<Launch> ways;
    for (int i = 0; i < algorithms; ++i) ways.emplace_back([&, i] { by_lt(i); });
    const std::size_t best = fastest_of(ways, 5);

    ours();
    CUDA_CHECK_LAUNCH();
    float error = -1;
    if (mode == "check") {
      CUDA_CHECK(cudaMemset(worst, 0, sizeof(float)));
      const dim3 grid(blocks_for(n, 32), blocks_for(m, 8));
      largest_error<<<grid, dim3(32, 8)>>>(p.a, p.b, p.c, worst);
      error = worst.download()[0];
    }
    const auto ms = take_turns({ours, by_default, [&] { by_lt(best); }}, kRounds);
    const auto of_default = ratios(ms[1], ms[0]), of_lt = ratios(ms[2], ms[0]);
    const char* const names[] = {"tiles",    "tickets",     "two_passes",
                                 "few_rows", "few_columns", "few_terms"};
    const FittedTile& t = kTiles[plan.way < Plan::kFewRows ? plan.row : 0];
    std::printf(
        "%u,%s,%u,%u,%u,%s,%ux%u,%u,%d,%.2f,%.2f,%.2f,%.2f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%d,%.3f,%"
        "s,%s\n",
        seed, s.kind, m, n, k, names[plan.way], plan.way < Plan::kFewRows ? t.rows : 0,
        plan.way < Plan::kFewRows ? t.columns : 0, plan.parts, plan.copies, plan.us,
        1e3 * median_of(ms[0]), 1e3 * median_of(ms[1]), 1e3 * median_of(ms[2]), of_default[10],
        of_default[5], of_default[15], of_lt[10], of_lt[5], of_lt[15], algorithms, error,
        device.name, version_text(device.runtime_version).c_str());
    std::fflush(stdout);
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatmulDescDestroy(product);
    for (const auto& it : {la, lb, lc}) cublasLtMatrixLayoutDestroy(it);
  }
}
