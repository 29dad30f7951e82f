// SPDX-License-Identifier: MIT
// STARTER FAILS: the values are kept, in the primary context
#include <cuda.h>

#include <memory>
#include <thread>

#include "common/labs/drawn.cuh"
#include "common/labs/stacks.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// Another user of the primary context, with a word there.
class OtherUser {
 public:
  OtherUser() {
    lab::driver(cuDevicePrimaryCtxRetain(&context_, 0), "cuDevicePrimaryCtxRetain");
    lab::driver(cuCtxPushCurrent(context_), "cuCtxPushCurrent");
    lab::driver(cuMemAlloc(&word_, sizeof kWord), "cuMemAlloc");
    lab::driver(cuMemcpyHtoD(word_, &kWord, sizeof kWord), "cuMemcpyHtoD");
    lab::driver(cuCtxPopCurrent(nullptr), "cuCtxPopCurrent");
  }
  // Whether its word is still there.
  bool has_word() const {
    int word = 0;
    lab::driver(cuCtxPushCurrent(context_), "cuCtxPushCurrent");
    const CUresult copied = cuMemcpyDtoH(&word, word_, sizeof word);
    lab::driver(cuCtxPopCurrent(nullptr), "cuCtxPopCurrent");
    const char* asked = nullptr;
    cuGetErrorName(copied, &asked);
    return copied == CUDA_SUCCESS && word == kWord;
  }
  // Whether it was still a user.
  bool goes() {
    const bool was_user = cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS;
    const char* asked = nullptr;
    cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &asked);
    return was_user;
  }

 private:
  static constexpr int kWord = 1218;
  CUcontext context_ = nullptr;
  CUdeviceptr word_ = 0;
};

// A trial begins with a primary context that nobody uses.
void begin() {
  lab::driver(cuInit(0), "cuInit");
  lab::taken_from_stack();
  cudaDeviceReset();  // the runtime is no user any longer
  while (lab::primary_is_active() && cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS) {
  }
  lab::expect(!lab::primary_is_active(), "the primary context at the beginning", "not in use",
              "in use");
}

void expect_active(bool active, const std::string& when) {
  lab::expect(lab::primary_is_active() == active, "the primary context " + when,
              active ? "active" : "ended with its last user", active ? "not active" : "active");
}

std::vector<int> some(std::size_t n) { return random_ints(n, -1000, 1000, 18 + n); }

}  // namespace

TEST_CASE("the values are kept, in the primary context") {
  lab::Trials()
      .sizes({1, 2, 100, lab::drawn(101, 2000)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        begin();
        const lab::Contexts made(2);
        const CUcontext a = made[0], b = made[1];
        for (const std::vector<CUcontext>& stack : {std::vector<CUcontext>{}, {a}, {a, b, a}}) {
          const lab::Stack callers(stack);
          {
            const Keeper keeper(0, some(at.n));
            callers.expect_same();
            expect_active(true, "while a Keeper lives");
            lab::expect_equal("values()", keeper.values(), some(at.n));
            callers.expect_same();
            CUcontext owner = nullptr, primary = nullptr;
            cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, keeper.address());
            lab::driver(cuDevicePrimaryCtxRetain(&primary, 0), "cuDevicePrimaryCtxRetain");
            cuDevicePrimaryCtxRelease(0);
            lab::expect(owner == primary, "the owner of address()", "the primary context",
                        "another, or none");
          }
          callers.expect_same();
          expect_active(false, "after the only Keeper");
        }
      });
}

TEST_CASE("other users keep the primary context, and get all of its memory back") {
  lab::Trials()
      .sizes({lab::drawn(50, 900)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        begin();
        const lab::Contexts made(1);
        OtherUser other;
        const double free_before = made.free_bytes();
        {
          const Keeper one(0, some(at.n)), two(0, some(at.n + 1));
          lab::expect_equal("values() of the first", one.values(), some(at.n));
          lab::expect_equal("values() of the second", two.values(), some(at.n + 1));
        }
        expect_active(true, "while another user needs it");
        lab::expect(other.has_word(), "the memory of another user", "as it was", "gone");
        lab::expect(kOnGpu || made.free_bytes() == free_before, "the device's memory afterwards",
                    "as much is free as before", "less");
        lab::expect(other.goes(), "the other user", "still counted", "released by somebody else");
        expect_active(false, "after all users");
      });
}

TEST_CASE("a Keeper goes from one host thread to another") {
  lab::Trials()
      .sizes({lab::drawn(50, 900)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        begin();
        std::unique_ptr<Keeper> keeper;
        std::vector<int> found;
        std::string failure;
        // Contexts that nobody can work in are current.
        const auto in_thread = [&](const std::function<void()>& work) {
          std::thread([&] {
            try {
              lab::destroyed_while_current();
              work();
            } catch (const lab::CudaFailure& thrown) {
              failure = thrown.text;
            }
          }).join();
          if (!failure.empty()) throw lab::CudaFailure{failure};
        };
        in_thread([&] { keeper = std::make_unique<Keeper>(0, some(at.n)); });
        in_thread([&] { found = keeper->values(); });
        in_thread([&] { keeper.reset(); });
        lab::expect_equal("values(), asked in another host thread", found, some(at.n));
        expect_active(false, "after the only Keeper");
      });
}
