// SPDX-License-Identifier: MIT
// What does the host do for a product, and how long does it take for each of its steps?

#include "../../../common/common.cuh"
#include "naive.cuh"

// The steps of the host, and what they are called in the table.
enum Step { kAllocate, kCopyIn, kKernel, kCopyOut, kFree, kSteps };
const char* const kNames[kSteps] = {"allocate", "copy_in", "kernel", "copy_out", "free"};

// Calls that return before their work is done would put it into the next step. A program without a
// clock leaves this wait out: the copy to the host waits for the kernel by itself.
void end_step(double* ends) {
  CUDA_CHECK(cudaDeviceSynchronize());
  *ends = host_ms();
}

// C = A * B for matrices in the host's memory, with all that chapters leave to MatrixProduct.
// ends[k]: when step k ended, by the host's clock.
void multiply_by_hand(const Matrix& a, const Matrix& b, const Matrix& c, double* ends) {
  const std::size_t a_bytes = a.elements() * sizeof(float);
  const std::size_t b_bytes = b.elements() * sizeof(float);
  const std::size_t c_bytes = c.elements() * sizeof(float);

  Matrix d_a = a, d_b = b, d_c = c;  // the same shapes, with data of the device
  CUDA_CHECK(cudaMalloc(&d_a.data, a_bytes));
  CUDA_CHECK(cudaMalloc(&d_b.data, b_bytes));
  CUDA_CHECK(cudaMalloc(&d_c.data, c_bytes));
  end_step(&ends[kAllocate]);

  CUDA_CHECK(cudaMemcpy(d_a.data, a.data, a_bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(d_b.data, b.data, b_bytes, cudaMemcpyHostToDevice));
  end_step(&ends[kCopyIn]);

  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(blocks_for(c.width, block.x), blocks_for(c.height, block.y));
  multiply_naive<<<grid, block>>>(d_a, d_b, d_c);
  CUDA_CHECK_LAUNCH();
  end_step(&ends[kKernel]);

  CUDA_CHECK(cudaMemcpy(c.data, d_c.data, c_bytes, cudaMemcpyDeviceToHost));
  end_step(&ends[kCopyOut]);

  CUDA_CHECK(cudaFree(d_a.data));
  CUDA_CHECK(cudaFree(d_b.data));
  CUDA_CHECK(cudaFree(d_c.data));
  end_step(&ends[kFree]);
}

// Matrices in the host's memory, and the reference.
struct HostProduct {
  HostProduct(std::size_t m, std::size_t n, std::size_t k, std::uint64_t seed)
      : a_values(random_floats(m * k, -1, 1, seed)),
        b_values(random_floats(k * n, -1, 1, seed + 1)),
        c_values(m * n),
        a(dense_matrix(a_values.data(), m, k)),
        b(dense_matrix(b_values.data(), k, n)),
        c(dense_matrix(c_values.data(), m, n)),
        expected(multiply_on_host(a_values, b_values, m, n, k)),
        tolerance(product_bounds(a_values, b_values, m, n, k)) {}

  // One trip. step_ms[k]: what step k took.
  void multiply(std::array<double, kSteps>& step_ms) {
    std::fill(c_values.begin(), c_values.end(), NAN);  // and its pages are there
    double ends[kSteps] = {};
    CUDA_CHECK(cudaDeviceSynchronize());
    double begin = host_ms();
    multiply_by_hand(a, b, c, ends);
    for (unsigned step = 0; step < kSteps; ++step) {
      step_ms[step] = ends[step] - begin;
      begin = ends[step];
    }
  }

  bool is_right(const std::string& name) const {
    return all_close(name, c_values, expected, [&](std::size_t i) { return tolerance[i]; });
  }

  std::vector<float> a_values, b_values, c_values;
  Matrix a, b, c;
  std::vector<double> expected, tolerance;
};

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 2048 : 100, n = m, k = m;
  const Options opt(argc, argv, "07_by_hand", "what does the host do for a product?",
                    {{"m", &m, 1, 32_Ki, "rows of A and C"},
                     {"n", &n, 1, 32_Ki, "columns of B and C"},
                     {"k", &k, 1, 32_Ki, "columns of A, rows of B"}});
  ResultTable table(opt, (m * k + k * n + m * n) * sizeof(float));
  table.rate_in("% of whole");
  table.without_speedup();
  bool wanted[kSteps + 1] = {}, any = false;
  for (unsigned step = 0; step < kSteps; ++step)
    any |= wanted[step] = table.wants(kNames[step], "a step of the host");
  any |= wanted[kSteps] = table.wants("whole", "all steps, one after the other");
  if (!any) return table.finish();

  HostProduct product(m, n, k, opt.seed);
  std::array<double, kSteps> step_ms;
  product.multiply(step_ms);  // warms up; and no memory of the device holds a right C before it
  bool right = product.is_right("the first trip");
  std::vector<double> samples[kSteps + 1];  // of each step, and of the whole
  for (std::size_t sample = 0; sample < opt.samples; ++sample) {
    product.multiply(step_ms);
    for (unsigned step = 0; step < kSteps; ++step) samples[step].push_back(step_ms[step]);
    samples[kSteps].push_back(std::accumulate(step_ms.begin(), step_ms.end(), 0.0));
  }
  right = product.is_right("the last trip") && right;
  const double whole_ms = median_of(samples[kSteps]);
  for (unsigned row = 0; row <= kSteps; ++row) {
    const Timing t = timing_of(samples[row]);
    const char* const name = row == kSteps ? "whole" : kNames[row];
    if (wanted[row]) table.row(name, t, 100 * t.median_ms / whole_ms, right);
  }
  return table.finish();
}
