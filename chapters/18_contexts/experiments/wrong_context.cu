// SPDX-License-Identifier: MIT
// What may a host thread do with what belongs to another context?
//
// Each question is asked in a process of its own: some answers spoil all that comes after them.

#include <cassert>
#include <optional>

#include "../../../common/common.cuh"
#include "households.cuh"

constexpr unsigned kOld = 18, kNew = 81;

// The name of an answer of the runtime.
std::string name_of(cudaError_t answer) { return cudaGetErrorName(answer); }

__global__ void store(unsigned value, unsigned* word) { *word = value; }
__global__ void fail(const unsigned* word) { assert(*word == kNew); }

// Two contexts. `there` was made first; `here` is the current one.
struct Two {
  explicit Two(CUdevice d) : device(d) {
    there = create_context(device);
    of_there.emplace();
    DRIVER_CHECK(cuMemcpyHtoD(of_there->word, &kOld, sizeof kOld));
    here = create_context(device);
    of_here.emplace();
    DRIVER_CHECK(cuMemcpyHtoD(of_here->word, &kOld, sizeof kOld));
  }
  // A kernel in the current context, and its end.
  CUresult kernel(unsigned* pointer, CUstream stream) const {
    store<<<1, 1, 0, stream>>>(kNew, pointer);
    CUDA_CHECK_LAUNCH();
    return cuStreamSynchronize(stream);
  }
  // A kernel of `here` writes where nobody owns anything.
  void fault() const {
    store<<<1, 1, 0, of_here->stream>>>(kNew, reinterpret_cast<unsigned*>(64));
    cudaGetLastError();
    cuStreamSynchronize(of_here->stream);
  }
  void fail_assertion() const {
    fail<<<1, 1, 0, of_here->stream>>>(of_here->pointer());
    cudaGetLastError();
    cuStreamSynchronize(of_here->stream);
  }
  CUresult copy_from_there() const {
    unsigned word = 0;
    const CUresult answer = cuMemcpyDtoH(&word, of_there->word, sizeof word);
    if (answer == CUDA_SUCCESS && word != kOld) return CUDA_ERROR_UNKNOWN;
    return answer;
  }
  // A launch of here that is given a pointer or a stream of any context; then waits for all of both
  // contexts. The first error.
  std::string run(CUstream stream, unsigned* pointer) const {
    store<<<1, 1, 0, stream>>>(kNew, pointer);
    const cudaError_t launched = cudaGetLastError();
    if (launched != cudaSuccess) return name_of(launched);
    for (const CUcontext each : {here, there}) {
      DRIVER_CHECK(cuCtxSetCurrent(each));
      const CUresult ended = cuCtxSynchronize();
      if (ended != CUDA_SUCCESS) return name_of(ended);
    }
    return "";
  }
  // Whether a kernel has left its word, asked in the context that owns it.
  std::string has_arrived(CUcontext owner, const Belongings& mine) const {
    unsigned word = 0;
    DRIVER_CHECK(cuCtxSetCurrent(owner));
    const CUresult copied = cuMemcpyDtoH(&word, mine.word, sizeof word);
    return copied != CUDA_SUCCESS ? name_of(copied) : word == kNew ? "yes" : "no";
  }

  CUdevice device;
  CUcontext there = nullptr, here = nullptr;
  std::optional<Belongings> of_there, of_here;
};

struct Question {
  const char *name, *summary;
  std::string (*ask)(const Two& two);
  const char* promised = "";  // by CUDA's documentation; empty: nothing is
};

// The header of the driver API: any further work of the process returns the same error.
constexpr const char* kAfterAFault = "CUDA_ERROR_ILLEGAL_ADDRESS";

const Question kQuestions[] = {
    {"owner", "is the context of an address known?",
     [](const Two& two) {
       CUcontext owner = nullptr;
       const CUresult answer =
           cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, two.of_there->word);
       return answer != CUDA_SUCCESS ? name_of(answer) : owner == two.there ? "there" : "no";
     },
     "there"},
    {"copy", "copy its memory to the host",
     [](const Two& two) { return name_of(two.copy_from_there()); }},
    {"wait", "wait for its stream",
     [](const Two& two) { return name_of(cuStreamSynchronize(two.of_there->stream)); }},
    {"launch", "launch into its stream",
     [](const Two& two) {
       store<<<1, 1, 0, two.of_there->stream>>>(kNew, two.of_here->pointer());
       return name_of(cudaGetLastError());
     }},
    {"launch_ran", "has that kernel written its word here?",
     [](const Two& two) {
       const std::string error = two.run(two.of_there->stream, two.of_here->pointer());
       return !error.empty() ? error : two.has_arrived(two.here, *two.of_here);
     }},
    {"free", "free its memory",
     [](const Two& two) { return name_of(cuMemFree(two.of_there->word)); }},
    {"kernel", "a kernel writes to its memory",
     [](const Two& two) {
       store<<<1, 1, 0, two.of_here->stream>>>(kNew, two.of_there->pointer());
       const cudaError_t launched = cudaGetLastError();
       if (launched != cudaSuccess) return name_of(launched);
       return name_of(cuStreamSynchronize(two.of_here->stream));
     }},
    {"kernel_wrote", "is its word there afterwards?",
     [](const Two& two) {
       const std::string error = two.run(two.of_here->stream, two.of_there->pointer());
       return !error.empty() ? error : two.has_arrived(two.there, *two.of_there);
     }},
    {"no_context", "allocate when no context is current",
     [](const Two&) {
       DRIVER_CHECK(cuCtxPopCurrent(nullptr));
       DRIVER_CHECK(cuCtxPopCurrent(nullptr));
       CUdeviceptr pointer = 0;
       return name_of(cuMemAlloc(&pointer, 4));
     },
     "CUDA_ERROR_INVALID_CONTEXT"},
    {"pop_empty", "pop from the empty stack",
     [](const Two&) {
       DRIVER_CHECK(cuCtxPopCurrent(nullptr));
       DRIVER_CHECK(cuCtxPopCurrent(nullptr));
       return name_of(cuCtxPopCurrent(nullptr));
     },
     "CUDA_ERROR_INVALID_CONTEXT"},
    {"destroyed", "make a destroyed context current",
     [](const Two& two) {
       DRIVER_CHECK(cuCtxDestroy(two.there));
       return name_of(cuCtxPushCurrent(two.there));
     }},
    {"destroyed_used", "and allocate in it",
     [](const Two& two) {
       DRIVER_CHECK(cuCtxDestroy(two.there));
       const CUresult pushed = cuCtxPushCurrent(two.there);
       if (pushed != CUDA_SUCCESS) return name_of(pushed);
       CUdeviceptr pointer = 0;
       return name_of(cuMemAlloc(&pointer, 4));
     }},
    {"memory_gone", "a kernel writes to memory of a destroyed context",
     [](const Two& two) {
       DRIVER_CHECK(cuCtxDestroy(two.there));
       store<<<1, 1, 0, two.of_here->stream>>>(kNew, two.of_there->pointer());
       const cudaError_t launched = cudaGetLastError();
       if (launched != cudaSuccess) return name_of(launched);
       return name_of(cuStreamSynchronize(two.of_here->stream));
     }},
    {"stream_gone", "launch into a stream of a destroyed context",
     [](const Two& two) {
       DRIVER_CHECK(cuCtxDestroy(two.there));
       store<<<1, 1, 0, two.of_there->stream>>>(kNew, two.of_here->pointer());
       return name_of(cudaGetLastError());
     }},
    {"released", "release a primary context that nobody has retained",
     [](const Two& two) { return name_of(cuDevicePrimaryCtxRelease(two.device)); },
     "CUDA_ERROR_INVALID_CONTEXT"},
    {"fault_here", "a kernel has faulted here; wait here again",
     [](const Two& two) {
       two.fault();
       return name_of(cuCtxSynchronize());
     },
     kAfterAFault},
    {"fault_there", "a kernel has faulted here; copy memory of there, current again",
     [](const Two& two) {
       two.fault();
       cuCtxSetCurrent(two.there);
       return name_of(two.copy_from_there());
     },
     kAfterAFault},
    {"fault_destroyed", "the same, after the context of the fault was destroyed",
     [](const Two& two) {
       two.fault();
       cuCtxDestroy(two.here);
       cuCtxSetCurrent(two.there);
       return name_of(two.copy_from_there());
     },
     kAfterAFault},
    {"fault_create", "create a context after that",
     [](const Two& two) {
       two.fault();
       cuCtxDestroy(two.here);
       CUcontext next = nullptr;
       return name_of(try_to_create(&next, two.device));
     },
     kAfterAFault},
    {"fault_new", "and run a kernel in it",
     [](const Two& two) {
       two.fault();
       cuCtxDestroy(two.here);
       CUcontext next = nullptr;
       const CUresult created = try_to_create(&next, two.device);
       if (created != CUDA_SUCCESS) return name_of(created);
       CUdeviceptr word = 0;
       const CUresult allocated = cuMemAlloc(&word, sizeof(unsigned));
       if (allocated != CUDA_SUCCESS) return name_of(allocated);
       return name_of(two.kernel(reinterpret_cast<unsigned*>(word), nullptr));
     },
     kAfterAFault},
    {"assert_there", "an assert has failed here; copy memory of there, current again",
     [](const Two& two) {
       two.fail_assertion();
       cuCtxSetCurrent(two.there);
       return name_of(two.copy_from_there());
     }},
    {"assert_destroyed", "the same, after the context of the assert was destroyed",
     [](const Two& two) {
       two.fail_assertion();
       cuCtxDestroy(two.here);
       cuCtxSetCurrent(two.there);
       return name_of(two.copy_from_there());
     }},
};

// Asks question `number`, from 1, in a process of its own.
std::string asked_elsewhere(const char* program, std::size_t number, std::size_t device) {
  const std::string command = text("'", program, "' --question ", number, " --device ", device);
  std::FILE* const answers = popen(command.c_str(), "r");
  char answer[128] = "";
  if (answers == nullptr || std::fgets(answer, sizeof answer, answers) == nullptr) {
    std::strcpy(answer, "no answer");
  }
  if (answers != nullptr) pclose(answers);
  answer[std::strcspn(answer, "\n")] = '\0';
  return answer;
}

int main(int argc, char** argv) {
  std::size_t one = 0;
  const Options opt(
      argc, argv, "18_wrong_context", "what may be used from another context?",
      {{"question", &one, 1, std::size(kQuestions), "only this one, in this process"}});
  if (one > 0) {
    require_device(opt);
    // Nobody gives anything back: some of it is broken afterwards.
    std::printf("%s\n", kQuestions[one - 1].ask(Two(device_of(opt))).c_str());
    return kExitOk;
  }
  ResultTable table(opt, sizeof(unsigned));
  table.without_speedup();
  for (std::size_t number = 1; number <= std::size(kQuestions); ++number) {
    const Question& question = kQuestions[number - 1];
    if (!table.wants(question.name, question.summary)) continue;
    const double begin = host_ms();
    const std::string answer = asked_elsewhere(argv[0], number, opt.device);
    const bool as_promised = *question.promised == '\0' || answer == question.promised;
    table.row(question.name, timing_of({host_ms() - begin}), 0, as_promised, answer);
  }
  table.note("times include the start of a process");
  return table.finish();
}
