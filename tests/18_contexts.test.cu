// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/18_contexts/contexts.cu"
#undef main

#include <map>

#include "kernel_testing.cuh"

// Apart from the program, whose names they have, too.
#define main experiment_main
namespace households {
#include "../chapters/18_contexts/experiments/households.cuh"
namespace wrong_context {
#include "../chapters/18_contexts/experiments/wrong_context.cu"
}
namespace loaded_module {
#include "../chapters/18_contexts/experiments/loaded_module.cu"
}
}  // namespace households
namespace slices {
#include "../chapters/18_contexts/experiments/slices.cu"
}
#undef main

namespace wrong_context = households::wrong_context;
namespace loaded_module = households::loaded_module;

namespace {

CUdevice first_device() {
  DRIVER_CHECK(cuInit(0));
  CUdevice device = 0;
  DRIVER_CHECK(cuDeviceGet(&device, 0));
  return device;
}

// What each row of a CSV has in a column.
std::map<std::string, std::string> column(const std::vector<std::string>& lines,
                                          const std::string& name) {
  const std::vector<std::string> titles = fields_of(lines.at(0));
  const auto at = [&](const std::string& title) {
    const auto found = std::find(titles.begin(), titles.end(), title);
    REQUIRE(found != titles.end());
    return static_cast<std::size_t>(found - titles.begin());
  };
  std::map<std::string, std::string> values;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> row = fields_of(lines[i]);
    values[row.at(at("version"))] = row.at(at(name));
  }
  return values;
}

const std::vector<std::string> kSmall = {"--steps", "50", "--arrays", "3", "--samples", "1"};

}  // namespace

TEST_CASE("every row of the program is there and right") {
  const auto checks = column(lines_of_csv(chapter_main, kSmall), "check");
  CHECK(checks.size() == 14);
  for (const auto& [version, check] : checks) {
    INFO(version);
    CHECK(check == "ok");
  }
  // Nobody has kept the primary context: it goes when the runtime lets it go.
  CUDA_CHECK(cudaDeviceReset());
  CHECK(!primary_is_active(first_device()));
}

TEST_CASE("the kernel makes so many steps, and the check knows when it has not") {
  const Household home(first_device());
  const Current here(home.context());
  for (const unsigned steps : {0u, 1u, 2u, 31u, 1000u, 4097u}) {
    INFO(steps);
    home.first.launch(steps);
    home.first.wait();
    CHECK(home.first.has_run("kernel", steps));
    CHECK(!home.first.has_run("not again", steps));
    home.second.launch(steps + 1);
    home.second.wait();
    CHECK(!home.second.has_run("another kernel", steps));
  }
}

TEST_CASE("a step is what it says") {
  CHECK(kStep(0) == 1013904223u);
  CHECK(kStep(3) == 3u * 1664525u + 1013904223u);
  CHECK(advanced(0) == kStart);
  CHECK(advanced(2) == kStep(kStep(kStart)));
}

TEST_CASE("a context is current while it is used, and the one below it afterwards") {
  const CUdevice device = first_device();
  CUDA_CHECK(cudaFree(nullptr));
  const CUcontext before = current_context();
  const double free_before = free_mib();
  {
    const Household home(device), other(device);
    CHECK(current_context() == before);
    CHECK(home.context() != other.context());
    {
      const Current here(home.context());
      CHECK(current_context() == home.context());
      const Current there(other.context());
      CHECK(current_context() == other.context());
    }
    CHECK(current_context() == before);
    CUcontext owner = nullptr;
    DRIVER_CHECK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, other.second.address));
    CHECK(owner == other.context());
  }
  CHECK(current_context() == before);
  if (!kOnGpu) CHECK(free_mib() == free_before);  // a driver may keep some for the next context
}

TEST_CASE("a context that ends gives back what nobody has freed") {
  const CUdevice device = first_device();
  CUDA_CHECK(cudaFree(nullptr));
  const CUcontext made = create_context(device);
  CUdeviceptr kept = 0;
  DRIVER_CHECK(cuMemAlloc(&kept, 64_Mi));
  DRIVER_CHECK(cuCtxPopCurrent(nullptr));
  const double before = free_mib();
  DRIVER_CHECK(cuCtxDestroy(made));
  CHECK(free_mib() - before >= 64);
}

TEST_CASE("two words are used each in its own context") {
  const CUdevice device = first_device();
  const Household one(device), other(device);
  const Used a{one, one.first}, b{other, other.second};
  for (const Used& it : {a, b}) it.launch(7), it.wait();
  CHECK(b.has_run("b", 7));
  CHECK(a.has_run("a", 7));
  CHECK(!a.has_run("a", 7));
  a([&](const Belongings&) { CHECK(current_context() == one.context()); });
  b([&](const Belongings&) { CHECK(current_context() == other.context()); });
}

TEST_CASE("another host thread takes a context as often as it is called, or none") {
  const Household home(first_device());
  OtherThread taker(home.context()), idler(nullptr);
  for (int i = 0; i < 50; ++i) taker.call(), idler.call();
  CHECK(taker.was_right());
  CHECK(idler.was_right());
  CHECK(taker.times_called() == 50);
  CHECK(idler.times_called() == 50);
}

TEST_CASE("the primary context is active until the runtime lets it go") {
  const CUdevice device = first_device();
  CUDA_CHECK(cudaFree(nullptr));
  CHECK(primary_is_active(device));
  CUDA_CHECK(cudaDeviceReset());
  CHECK(!primary_is_active(device));
  CUDA_CHECK(cudaFree(nullptr));
  CHECK(primary_is_active(device));
}

// Each from a host thread of its own. Not "released", for here the runtime uses the primary
// context, nor a fault, which would end all other tests.
TEST_CASE("the questions that CUDA's documentation answers are answered so") {
  std::size_t asked = 0;
  for (const wrong_context::Question& question : wrong_context::kQuestions) {
    const std::string name = question.name;
    const bool breaks_all = question.promised == wrong_context::kAfterAFault;
    if (*question.promised == '\0' || name == "released" || breaks_all) continue;
    INFO(name);
    std::string answer;
    std::thread([&] { answer = question.ask(wrong_context::Two(first_device())); }).join();
    CHECK(answer == question.promised);
    ++asked;
  }
  CHECK(asked == 3);
}

TEST_CASE("loading and calling code works in every new context") {
  const auto checks =
      column(lines_of_csv(loaded_module::experiment_main, {"--samples", "2"}), "check");
  CHECK(checks.size() == (kOnGpu ? 4 : 2));
  for (const auto& [version, check] : checks) {
    INFO(version);
    CHECK(check == "ok");
  }
}

TEST_CASE("an error of the driver is named, and one that it does not know has its number") {
  first_device();
  CHECK(name_of(CUDA_ERROR_INVALID_CONTEXT) == "CUDA_ERROR_INVALID_CONTEXT");
  CHECK(name_of(static_cast<CUresult>(12345)) == "error 12345");
  static std::string said;
  const auto before = on_cuda_failure;
  on_cuda_failure = [](const std::string& failure) { said = failure; };
  check_driver(static_cast<CUresult>(12345), "cuAnything()", "file", 18);
  CHECK(said == "file:18: cuAnything() failed: error 12345");
  check_driver(CUDA_ERROR_INVALID_VALUE, "cuAnything()", "file", 19);
  CHECK(said == "file:19: cuAnything() failed: CUDA_ERROR_INVALID_VALUE: invalid argument");
  on_cuda_failure = before;
}

TEST_CASE("the pieces in which a kernel ran are whole, or they are refused") {
  using slices::kPause;
  slices::Pieces p{};
  CHECK(!slices::are_whole(p, 0));
  p.count = 2;
  p.begin_ns[0] = 1000, p.end_ns[0] = 51000;
  p.begin_ns[1] = 51000 + kPause, p.end_ns[1] = 81000 + kPause;
  CHECK(slices::are_whole(p, 80000));
  CHECK(!slices::are_whole(p, 80001));
  CHECK(!slices::are_whole(p, 80000 - kPause));
  --p.begin_ns[1];  // no pause before it
  CHECK(!slices::are_whole(p, 80000));
  p.begin_ns[1] = 50000;
  CHECK(!slices::are_whole(p, 80000));
  p.count = slices::kMostPieces + 1;
  CHECK(!slices::are_whole(p, 80000));
}

TEST_CASE("turns are counted, and the time in which neither kernel ran") {
  slices::Pieces a{}, b{};
  a.count = 3, b.count = 1;
  a.begin_ns[0] = 10, a.end_ns[0] = 20, a.begin_ns[1] = 50, a.end_ns[1] = 60;
  a.begin_ns[2] = 70, a.end_ns[2] = 80;  // no turn before it
  b.begin_ns[0] = 25, b.end_ns[0] = 43;
  slices::Turns turns = slices::turns_between(slices::in_order({a, b}));
  CHECK(turns.count == 2);
  CHECK(turns.idle_ns == 22);
  CHECK(turns.apart);
  b.begin_ns[0] = 15, b.end_ns[0] = 70;  // while both of a's run
  turns = slices::turns_between(slices::in_order({a, b}));
  CHECK(!turns.apart);
  CHECK(turns.idle_ns == 0);
}

TEST_CASE("a kernel that notes its pieces runs as long as it is asked to") {
  const CUcontext home = create_context(first_device());
  {
    const slices::Kernel kernel(home);
    for (const std::uint64_t ns : {0u, 1000u, 90000u}) {
      INFO(ns);
      kernel.launch(ns);
      CHECK(slices::are_whole(kernel.wait(), ns));
    }
  }
  DRIVER_CHECK(cuCtxDestroy(home));
  const auto checks = column(lines_of_csv(slices::experiment_main, {"--us", "50"}), "check");
  for (const std::string version : {"one_context", "two_contexts"}) {
    CHECK((checks.at(version) == "in turn" || checks.at(version) == "at once"));
  }
}
