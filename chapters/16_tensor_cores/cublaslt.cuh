// SPDX-License-Identifier: MIT
// Chapter 16: the product by cuBLASLt, NVIDIA's library, that every other version stands beside: by
// the fastest of all algorithms that it offers for these sides, with sums in FP32.
#pragma once

#include <cublasLt.h>

#include "product.cuh"

inline void ensure(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    on_cuda_failure(std::string(call) + " failed: " + cublasLtGetStatusString(status));
}

/// Into how many parts an algorithm splits k, and how it adds their sums
/// (cublasLtReductionScheme_t).
struct PartsOfLibrary {
  int count = 1;
  unsigned reduction = CUBLASLT_REDUCTION_SCHEME_NONE;
};

/// cuBLAS is column-major: what it sees as B^T * A^T = C^T is the row-major A * B = C. Unless asked
/// not to, it also offers algorithms that round the sums of parts to BF16 before they are added.
/// These are left out, for ours and the reference add FP32; `with_rounded_sums` brings them back.
class LibraryProduct {
 public:
  explicit LibraryProduct(const TensorProduct& p, bool with_rounded_sums = false) : product_(p) {
    ensure(cublasLtCreate(&lt_), "cublasLtCreate");
    ensure(cublasLtMatmulDescCreate(&matmul_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
           "cublasLtMatmulDesc");
    a_ = layout_of(p.a), b_ = layout_of(p.b), c_ = layout_of(p.c);
    cublasLtMatmulPreference_t preference = nullptr;
    ensure(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreference");
    const std::size_t bytes = workspace_.size();
    ensure(cublasLtMatmulPreferenceSetAttribute(
               preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
           "cublasLtMatmulPreference");
    const std::uint32_t schemes =
        with_rounded_sums ? CUBLASLT_REDUCTION_SCHEME_MASK : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    ensure(cublasLtMatmulPreferenceSetAttribute(
               preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes),
           "cublasLtMatmulPreference");
    int count = 0;
    found_.resize(64);
    ensure(cublasLtMatmulAlgoGetHeuristic(lt_, matmul_, b_, a_, c_, c_, preference,
                                          static_cast<int>(found_.size()), found_.data(), &count),
           "cublasLtMatmulAlgoGetHeuristic");
    cublasLtMatmulPreferenceDestroy(preference);
    found_.resize(static_cast<std::size_t>(count));
  }
  ~LibraryProduct() {
    for (const auto layout : {a_, b_, c_}) cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(matmul_);
    cublasLtDestroy(lt_);
  }
  LibraryProduct(const LibraryProduct&) = delete;
  LibraryProduct& operator=(const LibraryProduct&) = delete;

  /// How many algorithms it offers.
  std::size_t offered() const { return found_.size(); }

  PartsOfLibrary parts_of(std::size_t algorithm) const {
    const cublasLtMatmulAlgo_t* const algo = &found_[algorithm].algo;
    PartsOfLibrary parts;
    std::size_t written = 0;
    ensure(cublasLtMatmulAlgoConfigGetAttribute(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts.count,
                                                sizeof parts.count, &written),
           "cublasLtMatmulAlgoConfigGetAttribute");
    ensure(cublasLtMatmulAlgoConfigGetAttribute(algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                                                &parts.reduction, sizeof parts.reduction, &written),
           "cublasLtMatmulAlgoConfigGetAttribute");
    return parts;
  }

  void launch(std::size_t algorithm) const {
    const float one = 1, zero = 0;
    ensure(cublasLtMatmul(lt_, matmul_, &one, product_.b.data, b_, product_.a.data, a_, &zero,
                          product_.c.data, c_, product_.c.data, c_, &found_[algorithm].algo,
                          workspace_, workspace_.size(), nullptr),
           "cublasLtMatmul");
  }

  /// The number of the fastest, each timed in a few samples.
  std::size_t fastest() const {
    std::size_t best = 0;
    double least = 0;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const double ms = time_launches(5, [&] { launch(i); }).median_ms;
      if (least == 0 || ms < least) best = i, least = ms;
    }
    return best;
  }

 private:
  static cublasLtMatrixLayout_t layout_of(const Bf16Matrix& m) {
    cublasLtMatrixLayout_t layout = nullptr;
    ensure(cublasLtMatrixLayoutCreate(&layout, CUDA_R_16BF, m.width, m.height, m.stride),
           "cublasLtMatrixLayout");
    return layout;
  }

  const TensorProduct& product_;
  const DeviceArray<char> workspace_{64_Mi};
  cublasLtHandle_t lt_ = nullptr;
  cublasLtMatmulDesc_t matmul_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> found_;
};

/// Two rows: the algorithm that the library names first, and the fastest of all.
inline void add_cublaslt(ResultTable& table, const TensorProduct& p) {
  if (table.opt.list) {
    table.wants("cublaslt_first", "the library's first choice");
    table.wants("cublaslt", "the fastest algorithm that the library offers");
    return;
  }
  const LibraryProduct library(p);
  if (library.offered() == 0) return table.note("cublasLt offers no algorithm for these sides");
  const auto add = [&](const char* name, std::size_t algorithm) {
    table.add(
        name, p, [&] { library.launch(algorithm); }, [&] { return p.is_right(name); });
  };
  add("cublaslt_first", 0);
  const std::size_t best = library.fastest();
  add("cublaslt", best);
  table.note("cublasLt: number ", best + 1, " of the ", library.offered(), " that it offers");
}
