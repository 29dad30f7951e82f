// SPDX-License-Identifier: MIT
// How long does one core of the host take for the product?
//
// serial           the triple loop: for each element of C, along a row of A and down a column of B
// serial_in_rows   the same terms in another order: the inner loop goes along rows of B and C
// columns_along_x  the kernel, a thread per element

#include <fstream>

#include "../../../common/common.cuh"
#include "naive.cuh"

// From one turn of the inner loop to the next, b.at(i, column) moves on by a whole row.
void multiply_serial(Matrix a, Matrix b, Matrix c) {
  for (unsigned row = 0; row < c.height; ++row) {
    for (unsigned column = 0; column < c.width; ++column) {
      float sum = 0;
      for (unsigned i = 0; i < a.width; ++i) sum += a.at(row, i) * b.at(i, column);
      c.at(row, column) = sum;
    }
  }
}

// Here it moves on by one element, and the compiler can do several columns at once.
void multiply_serial_in_rows(Matrix a, Matrix b, Matrix c) {
  for (unsigned row = 0; row < c.height; ++row) {
    float* const sums = &c.at(row, 0);
    std::fill(sums, sums + c.width, 0.0f);
    for (unsigned i = 0; i < a.width; ++i) {
      const float factor = a.at(row, i);
      const float* const of_b = &b.at(i, 0);
      for (unsigned column = 0; column < c.width; ++column) sums[column] += factor * of_b[column];
    }
  }
}

const Version<MatrixProduct> kKernel = {
    "columns_along_x", "the kernel, a thread per element", [](const MatrixProduct& p) {
      const dim3 grid(blocks_for(p.c.width, kBlockX), blocks_for(p.c.height, kBlockY));
      multiply_naive<<<grid, dim3(kBlockX, kBlockY)>>>(p.a, p.b, p.c);
    }};

// "AMD EPYC 9654 96-Core Processor", or "unknown CPU".
std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown CPU";
}

// The host multiplies copies of A and B. Its result goes to C, where it is checked as a kernel's.
void add_row(ResultTable& table, const MatrixProduct& p, const char* name, const char* summary,
             void (*multiply)(Matrix a, Matrix b, Matrix c)) {
  if (!table.wants(name, summary)) return;
  std::vector<float> a = p.a_values.download(), b = p.b_values.download(), c(p.c_values.size());
  const Matrix host_a = dense_matrix(a.data(), p.a.height, p.a.width);
  const Matrix host_b = dense_matrix(b.data(), p.b.height, p.b.width);
  const Matrix host_c = dense_matrix(c.data(), p.c.height, p.c.width);
  const Timing t = time_on_host(table.opt.samples, [&] { multiply(host_a, host_b, host_c); });
  CUDA_CHECK(cudaMemcpy(p.c_values, c.data(), p.c_values.bytes(), cudaMemcpyHostToDevice));
  table.next_row_has("one core of " + cpu_name());
  table.row(name, t, p.amount() / t.median_ms / 1e6, p.is_right(name));
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 1024 : 100;
  const Options opt(argc, argv, "07_serial_loop", "how long does one core of the host take?",
                    {{"n", &n, 1, 8_Ki, "rows and columns of all three matrices"}});
  ResultTable table(opt, 3 * n * n * sizeof(float), 0, {"multiplied by"});
  table.rate_in("GFLOP/s");
  const MatrixProduct product(n, n, n, opt.seed);
  add_row(table, product, "serial", "one core of the host, the triple loop", multiply_serial);
  add_row(table, product, "serial_in_rows", "one core, inner loop along rows of B and C",
          multiply_serial_in_rows);
  table.next_row_has(table.device.name);
  table.each_launch_does(product.amount());
  table.add(kKernel, product);
  return table.finish();
}
