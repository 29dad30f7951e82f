// SPDX-License-Identifier: MIT
// STARTER FAILS: every odd value is kept once, and no other
#include <algorithm>

#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every odd value is kept once, and no other") {
  // x[i] = i first: every lane 0 has an even value there.
  lab::Trials()
      .sizes({32, 31, 33, 64, 127, 256, 257, 1000, 1023, 2053, 1, 0})
      .blocks({32, 96, 256})
      .inputs({lab::Input::kIndices, lab::Input::kRandom, lab::Input::kNegative})
      .run([](const lab::Trial& at) {
        const std::vector<int> x = lab::ints_of(at);
        std::vector<int> expected;
        for (const int v : x) {
          if ((v & 1) != 0) expected.push_back(v);
        }
        std::sort(expected.begin(), expected.end());

        const lab::Array<int> d_x(x), d_kept(expected.size());  // room for those, and not one more
        const lab::Array<unsigned> count(std::vector<unsigned>{0});
        keep_odd<<<3, at.block>>>(d_x.get(), at.n, d_kept.get(), count.get());
        CUDA_CHECK_LAUNCH();
        lab::expect_equal("*count", std::size_t{count.download()[0]}, expected.size());
        std::vector<int> kept = d_kept.download();
        std::sort(kept.begin(), kept.end());
        lab::expect_equal("sorted kept", kept, expected);
      });
}
