// SPDX-License-Identifier: MIT
// cuBLAS on the CPU backend: values, compared with plain loops, and the statuses of wrong calls.
// Elements are small integers, so that every sum is exact in whatever order it is added.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "../catch.hpp"
#include "report/diagnostics.h"

namespace {

constexpr float kNan = NAN;

struct Handle {
  Handle() { REQUIRE(cublasCreate(&h) == CUBLAS_STATUS_SUCCESS); }
  ~Handle() { cublasDestroy(h); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  cublasHandle_t h = nullptr;
};

// Whether the last call was explained in words that contain `text`. The explanation is taken for
// read, and an error of the device is forgotten.
bool explained(const std::string& text) {
  const std::string report = cuda_cpu::last_report_text();
  if (cudaGetLastError() != cudaSuccess) cuda_cpu::reset_diagnostics();
  INFO(report);
  const bool found = report.find(text) != std::string::npos;
  CHECK(found);
  return found;
}

template <class T>
std::vector<T> integers(std::size_t n, std::uint64_t seed) {
  std::vector<T> values;
  for (const int x : random_ints(n, -8, 8, seed)) values.push_back(static_cast<T>(x));
  return values;
}

/// A column-major matrix with NaN between its columns.
template <class T>
struct Padded {
  int rows, columns, leading;
  std::vector<T> values;

  Padded(int rows_, int columns_, int gap, std::uint64_t seed)
      : rows(rows_),
        columns(columns_),
        leading(std::max(1, rows_) + gap),
        // The last column ends with its last row: what lies behind must not be touched.
        values(rows_ > 0 && columns_ > 0
                   ? static_cast<std::size_t>(leading) * (columns_ - 1) + rows_
                   : 0,
               static_cast<T>(kNan)) {
    const std::vector<T> inside = integers<T>(static_cast<std::size_t>(rows * columns), seed);
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) at(i, j) = inside[static_cast<std::size_t>(i + j * rows)];
    }
  }
  T& at(int i, int j) {
    return values[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * leading];
  }
  T after(cublasOperation_t op, int i, int j) { return op == CUBLAS_OP_N ? at(i, j) : at(j, i); }
};

template <class T>
Padded<T> operand(cublasOperation_t op, int rows, int columns, int gap, std::uint64_t seed) {
  return op == CUBLAS_OP_N ? Padded<T>(rows, columns, gap, seed)
                           : Padded<T>(columns, rows, gap, seed);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](T x, T y) {
           return same(static_cast<double>(x), static_cast<double>(y));
         });
}

cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t a_op, cublasOperation_t b_op, int m, int n,
                    int k, float alpha, const float* a, int lda, const float* b, int ldb,
                    float beta, float* c, int ldc) {
  return cublasSgemm(h, a_op, b_op, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t a_op, cublasOperation_t b_op, int m, int n,
                    int k, double alpha, const double* a, int lda, const double* b, int ldb,
                    double beta, double* c, int ldc) {
  return cublasDgemm(h, a_op, b_op, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

struct Shape {
  int m, n, k;
};

template <class T>
void check_gemm(const Shape& s, cublasOperation_t a_op, cublasOperation_t b_op, T alpha, T beta,
                int gap) {
  const Handle handle;
  Padded<T> a = operand<T>(a_op, s.m, s.k, gap, 1), b = operand<T>(b_op, s.k, s.n, 2 * gap, 2);
  Padded<T> c(s.m, s.n, 3 * gap, 3);
  if (beta == 0) c.values.assign(c.values.size(), static_cast<T>(kNan));
  Padded<T> expected = c;
  for (int j = 0; j < s.n; ++j) {
    for (int i = 0; i < s.m; ++i) {
      double sum = 0;
      for (int l = 0; l < s.k; ++l) {
        sum += static_cast<double>(a.after(a_op, i, l)) * static_cast<double>(b.after(b_op, l, j));
      }
      const double before = beta == 0 ? 0 : static_cast<double>(beta * c.at(i, j));
      expected.at(i, j) = static_cast<T>(static_cast<double>(alpha) * sum + before);
    }
  }
  const DeviceArray<T> d_a(a.values), d_b(b.values), d_c(c.values);
  INFO(s.m << " x " << s.n << " x " << s.k << ", operations " << a_op << " " << b_op << ", alpha "
           << alpha << ", beta " << beta << ", gap " << gap);
  REQUIRE(gemm(handle.h, a_op, b_op, s.m, s.n, s.k, alpha, d_a.get(), a.leading, d_b.get(),
               b.leading, beta, d_c.get(), c.leading) == CUBLAS_STATUS_SUCCESS);
  CHECK(same(d_c.download(), expected.values));
}

constexpr cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

__global__ void fill_with(float* x, float value) { x[threadIdx.x] = value; }

}  // namespace

// FEATURE: libraries: cuBLAS: products (`cublasSgemm` and its like)
TEST_CASE("products are right for every operation, odd leading dimensions, alpha and beta") {
  for (const Shape s :
       {Shape{1, 1, 1}, Shape{7, 5, 3}, Shape{8, 4, 16}, Shape{33, 2, 19}, Shape{3, 29, 1}}) {
    for (const cublasOperation_t a_op : kOperations) {
      for (const cublasOperation_t b_op : kOperations) {
        for (const int gap : {0, 3}) {
          check_gemm<float>(s, a_op, b_op, 1, 0, gap);
          check_gemm<float>(s, a_op, b_op, -2, 0.5f, gap);
          check_gemm<double>(s, a_op, b_op, 0.5, -1, gap);
        }
      }
    }
  }
}

TEST_CASE("products that do not fit a block of the computation are right") {
  // A block is 128 x 512, 256 deep.
  check_gemm<float>({131, 7, 515}, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1);
  check_gemm<float>({5, 517, 257}, CUBLAS_OP_T, CUBLAS_OP_T, 2, -1, 1);
  check_gemm<double>({130, 513, 3}, CUBLAS_OP_N, CUBLAS_OP_T, 1, 0, 0);
}

TEST_CASE("without terms, or with alpha = 0, A and B are not read, and C becomes beta * C") {
  const Handle handle;
  const std::vector<float> c = {1, 2, 3, 4};
  const DeviceArray<float> nans(4);
  for (const float beta : {0.0f, 3.0f}) {
    const DeviceArray<float> d_c(c), d_d(c);
    std::vector<float> expected = c;
    for (float& x : expected) x *= beta;
    CHECK(gemm(handle.h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 0, 1.0f, nullptr, 2, nullptr, 1, beta,
               d_c.get(), 2) == CUBLAS_STATUS_SUCCESS);
    CHECK(d_c.download() == expected);
    CHECK(gemm(handle.h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, 0.0f, nans.get(), 2, nullptr, 2, beta,
               d_d.get(), 2) == CUBLAS_STATUS_SUCCESS);
    CHECK(d_d.download() == expected);
  }
  // NaN * 0 is NaN where C is read.
  const DeviceArray<float> d_c(4);
  const float zero = 0, one = 1;
  CHECK(cublasSgemm(handle.h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 0, &one, nullptr, 2, nullptr, 1, &one,
                    d_c.get(), 2) == CUBLAS_STATUS_SUCCESS);
  CHECK(std::isnan(d_c.download()[0]));
  CHECK(cublasSgemm(handle.h, CUBLAS_OP_N, CUBLAS_OP_N, 0, 2, 2, &one, nullptr, 1, nullptr, 2,
                    &zero, nullptr, 1) == CUBLAS_STATUS_SUCCESS);
}

TEST_CASE("a batch is computed one by one, at any distance, also at 0 and backwards") {
  const Handle handle;
  const std::vector<float> a = integers<float>(5 * 6, 1), b = integers<float>(4, 2);
  const DeviceArray<float> d_a(a), d_b(b), d_c(std::vector<float>(3 * 5, kNan));
  const float one = 1, zero = 0;
  // 3 products of 2 x 2 matrices; those of A are taken from the last to the first.
  REQUIRE(cublasSgemmStridedBatched(handle.h, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, &one,
                                    d_a.get() + 20, 2, -10, d_b.get(), 2, 0, &zero, d_c.get(), 2, 5,
                                    3) == CUBLAS_STATUS_SUCCESS);
  const std::vector<float> c = d_c.download();
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::size_t j = 0; j < 2; ++j) {
      for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t first = 20 - 10 * p;
        CHECK(c[5 * p + i + 2 * j] == a[first + i] * b[j] + a[first + i + 2] * b[j + 2]);
      }
    }
    CHECK(std::isnan(c[5 * p + 4]));
  }
  CHECK(cublasSgemmStridedBatched(handle.h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, d_a.get(), 2,
                                  4, d_b.get(), 2, 4, &zero, d_c.get(), 2, 4,
                                  -1) == CUBLAS_STATUS_INVALID_VALUE);
  explained("the batch's");
}

TEST_CASE("elements of 16 bits are multiplied in float and rounded once") {
  const Handle handle;
  constexpr int kTerms = 300;  // more than the depth of a block
  std::vector<__half> a, b;
  double exact = 0;
  for (int l = 0; l < kTerms; ++l) {
    a.push_back(__half(1.0f + static_cast<float>(l % 7) / 8));
    b.push_back(__half(1.0f));
    exact += 1.0 + l % 7 / 8.0;
  }
  const DeviceArray<__half> d_a(a), d_b(b), d_c(1);
  const DeviceArray<float> d_f(1);
  const float one = 1, zero = 0;
  const auto product = [&](void* c, cudaDataType type, cublasComputeType_t compute) {
    return cublasGemmEx(handle.h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, kTerms, &one, d_a.get(),
                        CUDA_R_16F, 1, d_b.get(), CUDA_R_16F, kTerms, &zero, c, type, 1, compute,
                        CUBLAS_GEMM_DEFAULT);
  };
  REQUIRE(product(d_f.get(), CUDA_R_32F, CUBLAS_COMPUTE_32F) == CUBLAS_STATUS_SUCCESS);
  CHECK(static_cast<double>(d_f.download()[0]) == exact);
  REQUIRE(product(d_c.get(), CUDA_R_16F, CUBLAS_COMPUTE_32F) == CUBLAS_STATUS_SUCCESS);
  CHECK(__half2float(d_c.download()[0]) == __half2float(__half(exact)));

  CHECK(product(d_c.get(), CUDA_R_16F, CUBLAS_COMPUTE_16F) == CUBLAS_STATUS_NOT_SUPPORTED);
  explained("A of CUDA_R_16F, B of CUDA_R_16F, C of CUDA_R_16F with compute type 64");
  CHECK(product(d_c.get(), CUDA_R_16BF, CUBLAS_COMPUTE_32F) == CUBLAS_STATUS_NOT_SUPPORTED);
  explained("C of CUDA_R_16BF");

  const DeviceArray<__nv_bfloat16> d_x(std::vector<__nv_bfloat16>{3.0f, -2.5f}), d_y(1);
  const DeviceArray<double> d_d(std::vector<double>{7, 0.125});
  REQUIRE(cublasGemmStridedBatchedEx(handle.h, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 2, &one, d_x.get(),
                                     CUDA_R_16BF, 2, 0, d_x.get(), CUDA_R_16BF, 2, 0, &zero,
                                     d_y.get(), CUDA_R_16BF, 1, 0, 1, CUBLAS_COMPUTE_32F,
                                     CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  CHECK(__bfloat162float(d_y.download()[0]) == 15.25f);
  const double two = 2, minus = -1;
  REQUIRE(cublasGemmEx(handle.h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &two, d_d.get(), CUDA_R_64F, 1,
                       d_d.get(), CUDA_R_64F, 1, &minus, d_d.get() + 1, CUDA_R_64F, 1,
                       CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  CHECK(d_d.download()[1] == 2 * 49 - 0.125);
}

TEST_CASE("in TF32 mode factors keep 10 bits of their fraction, and all of it in the others") {
  const Handle handle;
  const float ulp = std::ldexp(1.0f, -10), tail = std::ldexp(1.0f, -11);
  const std::vector<float> x = {1 + tail, 1 + tail * 0.99f, -1 - tail};
  const std::vector<float> rounded = {1 + ulp, 1, -1 - ulp};
  const DeviceArray<float> d_x(x), d_one(std::vector<float>{1}), d_c(3);
  const auto product = [&] {
    REQUIRE(gemm(handle.h, CUBLAS_OP_N, CUBLAS_OP_N, 3, 1, 1, 1.0f, d_x.get(), 3, d_one.get(), 1,
                 0.0f, d_c.get(), 3) == CUBLAS_STATUS_SUCCESS);
    return d_c.download();
  };
  CHECK(product() == x);
  REQUIRE(cublasSetMathMode(handle.h, CUBLAS_TF32_TENSOR_OP_MATH) == CUBLAS_STATUS_SUCCESS);
  CHECK(product() == rounded);
  REQUIRE(cublasSetMathMode(handle.h, CUBLAS_PEDANTIC_MATH) == CUBLAS_STATUS_SUCCESS);
  CHECK(product() == x);
  cublasMath_t mode = CUBLAS_DEFAULT_MATH;
  CHECK(cublasGetMathMode(handle.h, &mode) == CUBLAS_STATUS_SUCCESS);
  CHECK(mode == CUBLAS_PEDANTIC_MATH);
  CHECK(cublasSetMathMode(handle.h, static_cast<cublasMath_t>(77)) == CUBLAS_STATUS_INVALID_VALUE);
  explained("math mode 77");
}

TEST_CASE("wrong sizes, leading dimensions, operations and null pointers return an invalid value") {
  const Handle handle;
  const DeviceArray<float> d(64);
  float one = 1, zero = 0;
  struct Wrong {
    int a_op, b_op, m, n, k, lda, ldb, ldc;
    const float* alpha;
    float* c;
    const char* words;
  };
  const float* const f = &one;
  float* const c = d.get();
  const Wrong all[] = {
      {0, 0, -1, 2, 2, 2, 2, 2, f, c, "m = -1, n = 2, k = 2"},
      {0, 0, 2, -1, 2, 2, 2, 2, f, c, "n = -1"},
      {0, 0, 2, 2, -1, 2, 2, 2, f, c, "k = -1"},
      {0, 0, 3, 2, 4, 2, 4, 3, f, c, "lda = 2, but A has 3 rows in memory"},
      {1, 0, 3, 2, 4, 3, 4, 3, f, c, "lda = 3, but A has 4 rows in memory (it is transposed)"},
      {0, 0, 3, 2, 4, 3, 3, 3, f, c, "ldb = 3, but B has 4 rows in memory"},
      {0, 1, 3, 2, 4, 3, 1, 3, f, c, "ldb = 1, but B has 2 rows in memory (it is transposed)"},
      {0, 0, 3, 2, 4, 3, 4, 2, f, c, "ldc = 2, but C has 3 rows in memory"},
      {0, 0, 0, 2, 2, 0, 2, 1, f, c, "lda = 0"},
      {0, 0, 2, 2, 0, 2, 0, 2, f, c, "ldb = 0"},
      {9, 0, 2, 2, 2, 2, 2, 2, f, c, "operation 9 of A"},
      {0, 9, 2, 2, 2, 2, 2, 2, f, c, "operation 9 of B"},
      {0, 0, 2, 2, 2, 2, 2, 2, nullptr, c, "alpha is a null pointer"},
      {0, 0, 2, 2, 2, 2, 2, 2, f, nullptr, "C is a null pointer"},
  };
  for (const Wrong& w : all) {
    INFO(w.words);
    CHECK(cublasSgemm(handle.h, static_cast<cublasOperation_t>(w.a_op),
                      static_cast<cublasOperation_t>(w.b_op), w.m, w.n, w.k, w.alpha, d.get(),
                      w.lda, d.get(), w.ldb, &zero, w.c, w.ldc) == CUBLAS_STATUS_INVALID_VALUE);
    explained(w.words);
  }
  CHECK(gemm(handle.h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, 1.0f, nullptr, 2, d.get(), 2, 0.0f,
             d.get(), 2) == CUBLAS_STATUS_INVALID_VALUE);
  explained("A is a null pointer");
}

TEST_CASE("calls run in the order of the handle's stream, when something waits for it") {
  const Handle handle;
  cudaStream_t stream = nullptr, found = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cublasSetStream(handle.h, stream) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasGetStream(handle.h, &found) == CUBLAS_STATUS_SUCCESS);
  CHECK(found == stream);
  float* shared = nullptr;  // of host and device
  REQUIRE(cudaMallocHost(&shared, 2 * sizeof(float)) == cudaSuccess);
  shared[0] = shared[1] = 1;
  const DeviceArray<float> d_x(1);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);  // it was filled in the default stream
  const float three = 3;
  fill_with<<<1, 1, 0, stream>>>(d_x.get(), 5.0f);
  REQUIRE(cublasSaxpy(handle.h, 1, &three, d_x.get(), 1, shared, 1) == CUBLAS_STATUS_SUCCESS);
  fill_with<<<1, 1, 0, stream>>>(d_x.get(), 7.0f);
  if (std::getenv("CUDA_LAUNCH_BLOCKING") == nullptr) CHECK(shared[0] == 1);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(shared[0] == 16);
  // A result for the host is there when the call returns.
  float sum = 0;
  REQUIRE(cublasSasum(handle.h, 1, d_x.get(), 1, &sum) == CUBLAS_STATUS_SUCCESS);
  CHECK(sum == 7);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cublasSaxpy(handle.h, 1, &three, d_x.get(), 1, shared, 1) ==
        CUBLAS_STATUS_EXECUTION_FAILED);
  explained("the handle's stream was destroyed");
  CHECK(cublasSetStream(handle.h, stream) == CUBLAS_STATUS_INVALID_VALUE);
  explained("no such stream");
  REQUIRE(cudaFreeHost(shared) == cudaSuccess);
}

// FEATURE: libraries: cuBLAS in a graph
TEST_CASE("a call on a captured stream runs whenever the graph is launched") {
  const Handle handle;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cublasSetStream(handle.h, stream) == CUBLAS_STATUS_SUCCESS);
  DeviceArray<float> x(std::vector<float>{2}), y(std::vector<float>{0});
  const float three = 3;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(cublasSaxpy(handle.h, 1, &three, x.get(), 1, y.get(), 1) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess);
  for (int launch = 0; launch < 2; ++launch) CHECK(cudaGraphLaunch(ready, stream) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(y.download()[0] == 12);
  CHECK(cudaGraphExecDestroy(ready) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("cublasDestroy waits for the device, and memory may be freed before the work runs") {
  float* shared = nullptr;
  REQUIRE(cudaMallocHost(&shared, sizeof(float)) == cudaSuccess);
  *shared = 4;
  const float half = 0.5f;
  cublasHandle_t h = nullptr;
  REQUIRE(cublasCreate(&h) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cublasSscal(h, 1, &half, shared, 1) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cublasDestroy(h) == CUBLAS_STATUS_SUCCESS);
  CHECK(*shared == 2);
  REQUIRE(cudaFreeHost(shared) == cudaSuccess);

  if (std::getenv("CUDA_LAUNCH_BLOCKING") != nullptr) return;  // then nothing waits
  const Handle handle;
  cudaStream_t ours = nullptr, others = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&ours, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithFlags(&others, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cublasSetStream(handle.h, ours) == CUBLAS_STATUS_SUCCESS);
  float* x = nullptr;
  REQUIRE(cudaMalloc(&x, sizeof(float)) == cudaSuccess);
  const char* const schedule = std::getenv("CUDA_CPU_SCHEDULE");
  const bool keeps_order = schedule == nullptr || schedule[0] != 'r';  // of streams that need none
  if (keeps_order) {
    REQUIRE(cublasSscal(handle.h, 1, &half, x, 1) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cudaFreeAsync(x, others) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(others) == cudaSuccess);
    CHECK(cudaStreamSynchronize(ours) == cudaErrorIllegalAddress);
    explained("cublasSscal uses x, which was freed");
  }
}

TEST_CASE("scalars and results in device memory are read and written when the work runs") {
  const Handle handle;
  REQUIRE(cublasSetPointerMode(handle.h, CUBLAS_POINTER_MODE_DEVICE) == CUBLAS_STATUS_SUCCESS);
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
  CHECK(cublasGetPointerMode(handle.h, &mode) == CUBLAS_STATUS_SUCCESS);
  CHECK(mode == CUBLAS_POINTER_MODE_DEVICE);
  const DeviceArray<float> d_x(std::vector<float>{3, 4}), d_norm(1), d_c(1);
  const DeviceArray<int> d_place(1);
  REQUIRE(cublasSnrm2(handle.h, 2, d_x.get(), 1, d_norm.get()) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cublasIsamax(handle.h, 2, d_x.get(), 1, d_place.get()) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cublasSscal(handle.h, 2, d_norm.get(), d_x.get(), 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(d_norm.download()[0] == 5);
  CHECK(d_place.download()[0] == 2);
  CHECK(d_x.download() == std::vector<float>{15, 20});
  const DeviceArray<float> d_zero(std::vector<float>{0});
  REQUIRE(cublasSgemm(handle.h, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 2, d_norm.get(), d_x.get(), 2,
                      d_x.get(), 2, d_zero.get(), d_c.get(), 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(d_c.download()[0] == 5 * 625);

  float host = 1;
  CHECK(cublasSscal(handle.h, 2, &host, d_x.get(), 1) == CUBLAS_STATUS_INVALID_VALUE);
  explained("a host pointer is passed to cublasSscal");
  REQUIRE(cublasSetPointerMode(handle.h, CUBLAS_POINTER_MODE_HOST) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSscal(handle.h, 2, d_norm.get(), d_x.get(), 1) == CUBLAS_STATUS_INVALID_VALUE);
  explained("alpha lies in device memory");
  CHECK(cublasSnrm2(handle.h, 2, d_x.get(), 1, d_norm.get()) == CUBLAS_STATUS_INVALID_VALUE);
  explained("result lies in device memory");
}

// FEATURE: libraries: cuBLAS: vectors (`cublasSaxpy` and its like)
TEST_CASE("vectors: sums, norms, places, updates, with increments of any sign") {
  const Handle handle;
  const std::vector<float> x = {3, kNan, -4, kNan, 0, kNan, -4}, y = {1, 2, 3, 4};
  const DeviceArray<float> d_x(x), d_y(y);
  const float minus = -1;
  float value = 0;
  int place = 0;
  CHECK(cublasSdot(handle.h, 4, d_x.get(), 2, d_y.get(), 1, &value) == CUBLAS_STATUS_SUCCESS);
  CHECK(value == 3 - 8 - 16);
  CHECK(cublasSdot(handle.h, 4, d_x.get(), 2, d_y.get(), -1, &value) == CUBLAS_STATUS_SUCCESS);
  CHECK(value == 12 - 12 - 4);
  CHECK(cublasSasum(handle.h, 4, d_x.get(), 2, &value) == CUBLAS_STATUS_SUCCESS);
  CHECK(value == 11);
  CHECK(cublasSnrm2(handle.h, 2, d_x.get(), 2, &value) == CUBLAS_STATUS_SUCCESS);
  CHECK(value == 5);
  CHECK(cublasIsamax(handle.h, 4, d_x.get(), 2, &place) == CUBLAS_STATUS_SUCCESS);
  CHECK(place == 2);
  CHECK(cublasIsamin(handle.h, 4, d_x.get(), 2, &place) == CUBLAS_STATUS_SUCCESS);
  CHECK(place == 3);
  CHECK(cublasSaxpy(handle.h, 4, &minus, d_x.get(), -2, d_y.get(), 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(d_y.download() == std::vector<float>{5, 2, 7, 1});
  CHECK(cublasScopy(handle.h, 2, d_x.get(), 4, d_y.get(), -3) == CUBLAS_STATUS_SUCCESS);
  CHECK(d_y.download() == std::vector<float>{0, 2, 7, 3});
  CHECK(cublasSswap(handle.h, 2, d_y.get(), 1, d_y.get() + 2, 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(d_y.download() == std::vector<float>{7, 3, 0, 2});
  CHECK(cublasSscal(handle.h, 2, &minus, d_y.get(), 3) == CUBLAS_STATUS_SUCCESS);
  CHECK(d_y.download() == std::vector<float>{-7, 3, 0, -2});

  // The library's results where there is nothing to add.
  for (const auto& [n, increment] : {std::pair<int, int>{0, 1}, {-1, 1}, {4, 0}, {4, -1}}) {
    value = 7, place = 7;
    CHECK(cublasSasum(handle.h, n, d_x.get(), increment, &value) == CUBLAS_STATUS_SUCCESS);
    CHECK(value == 0);
    CHECK(cublasIsamax(handle.h, n, d_x.get(), increment, &place) == CUBLAS_STATUS_SUCCESS);
    CHECK(place == 0);
    CHECK(cublasSscal(handle.h, n, &minus, d_x.get(), increment) == CUBLAS_STATUS_SUCCESS);
  }
  CHECK(same(d_x.download(), x));
  value = 7;
  CHECK(cublasSdot(handle.h, 0, nullptr, 1, nullptr, 1, &value) == CUBLAS_STATUS_SUCCESS);
  CHECK(value == 0);

  // In double a square may be out of range where the norm is not.
  const DeviceArray<double> d_large(std::vector<double>{3e200, -4e200});
  double norm = 0;
  CHECK(cublasDnrm2(handle.h, 2, d_large.get(), 1, &norm) == CUBLAS_STATUS_SUCCESS);
  CHECK(is_close(norm, 5e200, 1e186));
  CHECK(cublasSdot(handle.h, 1, d_x.get(), 1, d_x.get(), 1, nullptr) ==
        CUBLAS_STATUS_INVALID_VALUE);
  explained("result is a null pointer");
}

// FEATURE: libraries: cuBLAS: a matrix and a vector (`cublasSgemv` and its like)
TEST_CASE("a matrix times a vector, the product of two vectors, the sum of two matrices") {
  const Handle handle;
  const float two = 2, minus = -1, zero = 0;
  for (const bool transposed : {false, true}) {
    Padded<float> a(3, 5, 2, 1);
    const int inputs = transposed ? 3 : 5, outputs = transposed ? 5 : 3;
    const std::vector<float> x = integers<float>(static_cast<std::size_t>(inputs), 2);
    for (const float beta : {0.0f, -1.0f}) {
      std::vector<float> y(static_cast<std::size_t>(2 * outputs), kNan), expected = y;
      for (int i = 0; i < outputs; ++i) {
        if (beta != 0) y[static_cast<std::size_t>(2 * i)] = static_cast<float>(i);
        float sum = 0;
        for (int j = 0; j < inputs; ++j) {
          sum += (transposed ? a.at(j, i) : a.at(i, j)) * x[static_cast<std::size_t>(j)];
        }
        expected[static_cast<std::size_t>(2 * i)] = 2 * sum + beta * static_cast<float>(i);
      }
      const DeviceArray<float> d_a(a.values), d_x(x), d_y(y);
      CHECK(cublasSgemv(handle.h, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, 3, 5, &two, d_a.get(),
                        a.leading, d_x.get(), 1, &beta, d_y.get(), 2) == CUBLAS_STATUS_SUCCESS);
      CHECK(same(d_y.download(), expected));
    }
  }

  Padded<float> a(2, 3, 1, 4), expected = a;
  const std::vector<float> x = {5, 7}, y = {1, 2, 3};
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 2; ++i) {
      expected.at(i, j) += 2 * x[static_cast<std::size_t>(i)] * y[static_cast<std::size_t>(2 - j)];
    }
  }
  const DeviceArray<float> d_a(a.values), d_x(x), d_y(y);
  CHECK(cublasSger(handle.h, 2, 3, &two, d_x.get(), 1, d_y.get(), -1, d_a.get(), 3) ==
        CUBLAS_STATUS_SUCCESS);
  CHECK(same(d_a.download(), expected.values));

  Padded<float> b(3, 2, 0, 5), sum(2, 3, 0, 6), transposed(3, 2, 0, 6);
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 2; ++i) {
      sum.at(i, j) = 2 * a.at(i, j) - b.at(j, i);
      transposed.at(j, i) = 2 * a.at(i, j);
    }
  }
  const DeviceArray<float> d_m(a.values), d_b(b.values), d_sum(6), d_t(6), d_nan(6);
  CHECK(cublasSgeam(handle.h, CUBLAS_OP_N, CUBLAS_OP_T, 2, 3, &two, d_m.get(), 3, &minus, d_b.get(),
                    3, d_sum.get(), 2) == CUBLAS_STATUS_SUCCESS);
  CHECK(d_sum.download() == sum.values);
  // The usual way to transpose: the other matrix counts 0 times, and is not read.
  CHECK(cublasSgeam(handle.h, CUBLAS_OP_T, CUBLAS_OP_N, 3, 2, &two, d_m.get(), 3, &zero,
                    d_nan.get(), 3, d_t.get(), 3) == CUBLAS_STATUS_SUCCESS);
  CHECK(d_t.download() == transposed.values);

  CHECK(cublasSgeam(handle.h, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, &two, d_t.get(), 2, &zero, nullptr, 2,
                    d_t.get(), 2) == CUBLAS_STATUS_INVALID_VALUE);
  explained("C is A");
  CHECK(cublasSgemv(handle.h, CUBLAS_OP_N, 3, 2, &two, d_t.get(), 2, d_x.get(), 1, &zero, d_y.get(),
                    1) == CUBLAS_STATUS_INVALID_VALUE);
  explained("lda = 2, but A has 3 rows");
  CHECK(cublasSger(handle.h, 2, 2, &two, d_x.get(), 0, d_y.get(), 1, d_a.get(), 2) ==
        CUBLAS_STATUS_INVALID_VALUE);
  explained("an increment is 0");
}

TEST_CASE("vectors and matrices travel with their strides") {
  const std::vector<int> from = {1, 2, 3, 4, 5, 6, 7};
  const DeviceArray<int> d(8);
  std::vector<int> back(6, 0);
  CHECK(cublasSetVector(3, sizeof(int), from.data(), 3, d.get(), 2) == CUBLAS_STATUS_SUCCESS);
  CHECK(d.download(6) == std::vector<int>{1, -1, 4, -1, 7, -1});
  CHECK(cublasGetVector(3, sizeof(int), d.get(), 2, back.data(), 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(back == std::vector<int>{1, 4, 7, 0, 0, 0});
  CHECK(cublasSetMatrix(2, 2, sizeof(int), from.data(), 3, d.get(), 4) == CUBLAS_STATUS_SUCCESS);
  CHECK(d.download(6) == std::vector<int>{1, 2, 4, -1, 4, 5});
  CHECK(cublasGetMatrix(2, 2, sizeof(int), d.get(), 4, back.data(), 3) == CUBLAS_STATUS_SUCCESS);
  CHECK(back == std::vector<int>{1, 2, 7, 4, 5, 0});
  CHECK(cublasSetMatrix(2, 2, sizeof(int), from.data(), 1, d.get(), 4) ==
        CUBLAS_STATUS_INVALID_VALUE);
  explained("cublasSetMatrix: a size is negative");
  CHECK(cublasSetVector(3, sizeof(int), d.get(), 1, d.get(), 1) == CUBLAS_STATUS_MAPPING_ERROR);
  explained("cublasSetVector: the source is device memory");
}

TEST_CASE("what a call would touch outside of its memory stops the device") {
  const Handle handle;
  const DeviceArray<float> d(12), d_b(std::vector<float>(12, 1.0f)), d_c(12);
  const auto product = [&](const float* a, int lda, float* c) {
    return gemm(handle.h, CUBLAS_OP_N, CUBLAS_OP_N, 3, 3, 3, 1.0f, a, lda, d_b.get(), 3, 0.0f, c,
                3);
  };
  CHECK(product(d.get() + 4, 3, d_c.get()) == CUBLAS_STATUS_EXECUTION_FAILED);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  // Every call fails until the device is reset, as on a GPU.
  CHECK(product(d.get(), 3, d_c.get()) == CUBLAS_STATUS_EXECUTION_FAILED);
  explained("cublasSgemm reads past the end of A");
  CHECK(product(d.get(), 5, d_c.get()) == CUBLAS_STATUS_EXECUTION_FAILED);
  explained(
      "that is 13 elements of 4 bytes; from the pointer to the end of the memory there are 12");
  CHECK(product(d.get(), 3, d_c.get() + 4) == CUBLAS_STATUS_EXECUTION_FAILED);
  explained("cublasSgemm writes past the end of C");
  CHECK(product(d.get() + 20, 3, d_c.get()) == CUBLAS_STATUS_EXECUTION_FAILED);
  explained("cublasSgemm reads outside of an allocation");
  CHECK(product(reinterpret_cast<const float*>(reinterpret_cast<const char*>(d.get()) + 2), 3,
                d_c.get()) == CUBLAS_STATUS_EXECUTION_FAILED);
  explained("a misaligned pointer is passed to cublasSgemm");
  const float one = 1, zero = 0;
  CHECK(cublasSgemmStridedBatched(handle.h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, d.get(), 2, -4,
                                  d_b.get(), 2, 0, &zero, d_c.get(), 2, 4,
                                  2) == CUBLAS_STATUS_EXECUTION_FAILED);
  explained("cublasSgemmStridedBatched reads before the start of A");
  // The least that is enough.
  CHECK(product(d.get(), 4, d_c.get() + 3) == CUBLAS_STATUS_SUCCESS);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("a handle must come from cublasCreate and live") {
  cublasHandle_t h = nullptr;
  CHECK(cublasCreate(nullptr) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasDestroy(nullptr) == CUBLAS_STATUS_NOT_INITIALIZED);
  explained("cublasDestroy: the handle is a null pointer");
  REQUIRE(cublasCreate(&h) == CUBLAS_STATUS_SUCCESS);
  int version = 0;
  CHECK(cublasGetVersion(h, &version) == CUBLAS_STATUS_SUCCESS);
  CHECK(version >= 130000);
  REQUIRE(cublasDestroy(h) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSetStream(h, nullptr) == CUBLAS_STATUS_NOT_INITIALIZED);
  explained("cublasSetStream: the handle was destroyed");
}

TEST_CASE("statuses have the library's names and texts") {
  CHECK(std::string(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED)) ==
        "CUBLAS_STATUS_NOT_SUPPORTED");
  CHECK(std::string(cublasGetStatusString(CUBLAS_STATUS_SUCCESS)) == "success");
  CHECK(std::string(cublasGetStatusString(CUBLAS_STATUS_INVALID_VALUE)) ==
        "an unsupported value or parameter was passed to the function");
  CHECK(std::string(cublasGetStatusString(static_cast<cublasStatus_t>(2))) ==
        "unrecognized status");
}
