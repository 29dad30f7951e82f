// SPDX-License-Identifier: MIT
// How far is the best naive product from what NVIDIA's library reaches?

#include <cublas_v2.h>

#include "../../../common/common.cuh"
#include "naive.cuh"

// A call of cuBLAS that fails ends the program.
void ensure(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    on_cuda_failure(std::string(call) + " failed: " + cublasGetStatusString(status));
}

// cuBLAS is column-major: what it sees as B^T * A^T = C^T is the row-major A * B = C.
void multiply_by_cublas(const MatrixProduct& p) {
  static cublasHandle_t handle = nullptr;  // made once: that takes longer than a product
  if (handle == nullptr) ensure(cublasCreate(&handle), "cublasCreate");
  const float one = 1, zero = 0;
  ensure(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, p.c.width, p.c.height, p.a.width, &one,
                     p.b.data, p.b.stride, p.a.data, p.a.stride, &zero, p.c.data, p.c.stride),
         "cublasSgemm");
}

const Version<MatrixProduct> kVersions[] = {
    {"columns_along_x", "a thread per element, neighbours in a row",
     [](const MatrixProduct& p) {
       const dim3 grid(blocks_for(p.c.width, kBlockX), blocks_for(p.c.height, kBlockY));
       multiply_naive<<<grid, dim3(kBlockX, kBlockY)>>>(p.a, p.b, p.c);
     }},
    {"cublas", "cublasSgemm, FP32 without tensor cores", multiply_by_cublas},
};

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 2048 : 100, n = m, k = m;
  const Options opt(argc, argv, "07_beside_cublas", "how far is it to what the library reaches?",
                    {{"m", &m, 1, 64_Ki, "rows of A and C"},
                     {"n", &n, 1, 64_Ki, "columns of B and C"},
                     {"k", &k, 1, 64_Ki, "columns of A, rows of B"}});
  ResultTable table(opt, (m * k + k * n + m * n) * sizeof(float));
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));
  const MatrixProduct product(m, n, k, opt.seed);
  table.each_launch_does(product.amount());
  for (const auto& version : kVersions) table.add(version, product);
  return table.finish();
}
