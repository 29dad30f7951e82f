// SPDX-License-Identifier: MIT
// STARTER FAILS: the line is the one with the smallest relative errors
#include <cmath>

#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// From 0 to 1.
double any() { return lab::drawn(0, 1000000) / 1e6; }
// From least to most, as often below ten times least as above a tenth of most.
double any(double least, double most) { return least * std::pow(most / least, any()); }

Line any_line() { return {any(1e-6, 1e-4), any(1e9, 1e13)}; }

// Sizes around the one at which latency and bandwidth count alike, a small and a large one among
// them, in any order.
std::vector<Measured> measured_of(const Line& line, std::size_t n, double largest_error) {
  std::vector<Measured> measured;
  const double middle = line.latency * line.bandwidth;
  for (std::size_t i = 0; i < n; ++i) {
    const double share = i == 0 ? 1e-3 : i == 1 ? 1e3 : any(1e-3, 1e3);
    const double bytes = middle * share;
    measured.push_back({bytes, line.seconds(bytes) * (1 + largest_error * (2 * any() - 1))});
  }
  return lab::shuffled(measured);
}

double error_of(const Line& line, const std::vector<Measured>& measured) {
  long double sum = 0;
  for (const Measured& m : measured) {
    const long double error =
        (line.latency + static_cast<long double>(m.bytes) / line.bandwidth) / m.seconds - 1;
    sum += error * error;
  }
  return static_cast<double>(sum);
}

void expect_about(const std::string& name, double actual, double expected, double share) {
  if (is_close(actual, expected, share * expected)) return;
  lab::throw_wrong(name, actual, expected);
}

// No line beside it is better.
void expect_best(const Line& line, const std::vector<Measured>& measured) {
  const double error = error_of(line, measured);
  for (const double latency : {0.998, 1.0, 1.002}) {
    for (const double bandwidth : {0.998, 1.0, 1.002}) {
      if (latency == 1 && bandwidth == 1) continue;
      const double other = error_of({line.latency * latency, line.bandwidth * bandwidth}, measured);
      lab::expect(
          error < other, "the sum of squared relative errors", "the smallest that a line has",
          lab::text_of(error) + ", and " + lab::text_of(other) + " for " + lab::text_of(latency) +
              " times the latency, " + lab::text_of(bandwidth) + " times the bandwidth");
    }
  }
}

double seconds_of(const Line& alone, const Line& link, double crossing, int devices, double bytes) {
  return alone.seconds(bytes / devices) + link.seconds(crossing * bytes);
}

}  // namespace

TEST_CASE("the line is the one with the smallest relative errors") {
  lab::Trials()
      .sizes({3, 4, lab::drawn(5, 30), lab::drawn(31, 200), 2})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        for (int k = 0; k < 10; ++k) {
          const Line line = any_line();
          const Line exact = fit(measured_of(line, at.n, 0));
          expect_about("latency [s]", exact.latency, line.latency, 1e-6);
          expect_about("bandwidth [bytes/s]", exact.bandwidth, line.bandwidth, 1e-6);
          if (at.n < 3) continue;  // a line goes through both
          const std::vector<Measured> measured = measured_of(line, at.n, 0.1);
          const Line fitted = fit(measured);
          lab::expect(fitted.latency > 0 && fitted.bandwidth > 0, "the line", "two numbers above 0",
                      lab::text_of(fitted.latency) + ", " + lab::text_of(fitted.bandwidth));
          expect_best(fitted, measured);
        }
      });
}

TEST_CASE("several devices are worth it from where they are faster than one, or never") {
  lab::once([] {
    for (int k = 0; k < 100; ++k) {
      const Line alone = any_line(), link = any_line();
      const int devices = static_cast<int>(lab::drawn(2, 1024));
      const double saved = (1 - 1.0 / devices) * link.bandwidth / alone.bandwidth;
      // Nothing crosses, less than what is saved, and more.
      for (const double crossing : {0.0, saved * (0.1 + 0.8 * any()), saved * (1.1 + any())}) {
        const std::string for_devices = " bytes for " + std::to_string(devices) + " devices";
        const double from = worth_from(alone, link, crossing, devices);
        if (crossing > saved) {
          lab::expect(std::isinf(from) && from > 0, "worth_from() where more crosses than is saved",
                      "infinity", lab::text_of(from));
          continue;
        }
        lab::expect(std::isfinite(from) && from > 0, "worth_from()", "above 0, and a number",
                    lab::text_of(from) + for_devices);
        for (const double bytes : {0.999 * from, 1.001 * from}) {
          const bool is_faster =
              seconds_of(alone, link, crossing, devices, bytes) < alone.seconds(bytes);
          lab::expect(is_faster == (bytes > from), "worth_from()",
                      is_faster ? "less than " + lab::text_of(bytes) + for_devices
                                : "more than " + lab::text_of(bytes) + for_devices,
                      lab::text_of(from));
        }
      }
      const double for_one = worth_from(alone, link, k % 2 == 0 ? 0 : any(), 1);
      lab::expect(std::isinf(for_one) && for_one > 0, "worth_from() for 1 device", "infinity",
                  lab::text_of(for_one));
    }
  });
}
