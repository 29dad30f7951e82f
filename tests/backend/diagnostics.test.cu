// SPDX-License-Identifier: MIT
// The words of reports about kernels, their form, and which report is printed.
#include <cuda_runtime.h>

#include <string>

#include "../catch.hpp"
#include "report/diagnostics.h"
#include "report/program_image.h"
#include "runtime/errors.h"

namespace outer {

template <class T, int kCount>
__global__ void scale(T* x) {
  x[0] *= kCount;
}

}  // namespace outer

namespace {

constexpr const char* kFile = "tests/backend/diagnostics.test.cu";

__global__ void hidden(int* x) { *x = 1; }

cuda_cpu::Report report_about(const char* headline, int line) {
  cuda_cpu::Report report;
  report.headline = headline;
  report.site = {kFile, line};
  report.cuda_error = cudaErrorInvalidValue;
  return report;
}

}  // namespace

__global__ void plain(int* x, float) { *x = 2; }

TEST_CASE("a kernel is named without its arguments and return type") {
  const auto name = [](auto* kernel) {
    return std::string(cuda_cpu::function_name(reinterpret_cast<const void*>(kernel), "not found"));
  };
  CHECK(name(plain) == "plain");
  CHECK(name(hidden) == "hidden");
  CHECK(name(outer::scale<float, 3>) == "outer::scale<float, 3>");
  CHECK(std::string(cuda_cpu::function_name(nullptr, "not found")) == "not found");
}

TEST_CASE("the first report wins, and its error sticks") {
  CHECK(cuda_cpu::report(report_about("the first", 1)) == cudaErrorInvalidValue);
  cuda_cpu::Report second = report_about("the second", 2);
  second.cuda_error = cudaErrorIllegalAddress;
  CHECK(cuda_cpu::report(second) == cudaErrorIllegalAddress);
  CHECK(cuda_cpu::last_report_text().find("the first") != std::string::npos);
  CHECK(cuda_cpu::sticky_error() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cuda_cpu::sticky_error() == 0);
  CHECK(cuda_cpu::last_report_text().empty());
  CHECK(cuda_cpu::cuda_cpu_has_failed() != 0);
  cuda_cpu::reset_diagnostics();
  CHECK(cuda_cpu::cuda_cpu_has_failed() == 0);
}

TEST_CASE("cudaDeviceReset hides no misuse") {
  const int before = cuda_cpu::unhandled_misuses();
  cuda_cpu::misuse({kFile, 5}, cudaErrorInvalidValue, "a misuse before the reset");
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cuda_cpu::unhandled_misuses() == before + 1);
  cuda_cpu::reset_diagnostics();
  CHECK(cuda_cpu::unhandled_misuses() == 0);
}

TEST_CASE("a misuse does not stick") {
  CHECK(cuda_cpu::misuse({kFile, 3}, cudaErrorInvalidValue, "a misuse") == cudaErrorInvalidValue);
  CHECK(cuda_cpu::last_report_text() == "tests/backend/diagnostics.test.cu:3: error: a misuse\n");
  CHECK(cuda_cpu::sticky_error() == 0);
  CHECK(cudaGetLastError() ==
        cudaSuccess);  // no error was recorded; asking settles it all the same
}

TEST_CASE("a report has the form of a compiler's") {
  cuda_cpu::Report report = report_about("out-of-bounds read", 4);
  report.where.inside = true;
  report.where.kernel = {"sum", "chapters/x.cu", 99};
  report.where.grid = dim3(8);
  report.where.block_dim = dim3(64, 2);
  report.where.block = {7, 0, 0};
  report.where.thread = {63, 1, 0};
  report.details.push_back("a detail");
  report.notes.push_back({{"chapters/x.cu", 50}, "allocated here by cudaMalloc"});
  report.help = "guard the index";
  cuda_cpu::report(report);
  CHECK(cuda_cpu::last_report_text() ==
        "tests/backend/diagnostics.test.cu:4: error: out-of-bounds read in kernel 'sum', "
        "block (7,0,0), thread (63,1,0)\n"
        "    a detail\n"
        "chapters/x.cu:50: note: allocated here by cudaMalloc\n"
        "chapters/x.cu:99: note: kernel launched here as <<<(8,1,1), (64,2,1)>>>\n"
        "    help: guard the index\n");
  cudaDeviceReset();
  cuda_cpu::reset_diagnostics();
}
