// SPDX-License-Identifier: MIT
// What do the flags change that older programs pass: portable, mapped, and cudaDeviceMapHost?
//
// First the flags of the device, before and after the calls that set them. Then a word of memory of
// each kind: the flags that the runtime says it has, whether it is pinned, and whether host and
// device have one address for it. In the end a kernel stores to it by the device's address.

#include <cstdio>

#include "../../../common/common.cuh"

__global__ void store_word(unsigned* place, unsigned word) { *place = word; }

unsigned flags_of_device() {
  unsigned flags = 0;
  CUDA_CHECK(cudaGetDeviceFlags(&flags));
  return flags;
}

// How a kind of memory is got and given back, with the flags that are passed to the call.
struct Kind {
  const char* name;
  unsigned flags;
  unsigned* (*get)(unsigned flags);
  void (*give_back)(unsigned* words);
};
constexpr std::size_t kBytes = 4096;

unsigned* get_pinned(unsigned) {
  unsigned* words = nullptr;
  CUDA_CHECK(cudaMallocHost(&words, kBytes));
  return words;
}
unsigned* get_by_flags(unsigned flags) {
  unsigned* words = nullptr;
  CUDA_CHECK(cudaHostAlloc(&words, kBytes, flags));
  return words;
}
void free_pinned(unsigned* words) { CUDA_CHECK(cudaFreeHost(words)); }

unsigned* get_registered(unsigned flags) {
  unsigned* const words = new unsigned[kBytes / sizeof(unsigned)];
  CUDA_CHECK(cudaHostRegister(words, kBytes, flags));
  return words;
}
void free_registered(unsigned* words) {
  CUDA_CHECK(cudaHostUnregister(words));
  delete[] words;
}

const Kind kKinds[] = {
    {"malloc_host", 0, get_pinned, free_pinned},
    {"default", cudaHostAllocDefault, get_by_flags, free_pinned},
    {"portable", cudaHostAllocPortable, get_by_flags, free_pinned},
    {"mapped", cudaHostAllocMapped, get_by_flags, free_pinned},
    {"portable_mapped", cudaHostAllocPortable | cudaHostAllocMapped, get_by_flags, free_pinned},
    {"write_combined", cudaHostAllocWriteCombined, get_by_flags, free_pinned},
    {"registered", cudaHostRegisterDefault, get_registered, free_registered},
    {"registered_portable", cudaHostRegisterPortable, get_registered, free_registered},
    {"registered_mapped", cudaHostRegisterMapped, get_registered, free_registered},
};

// What the runtime says of a kind of memory, and what a kernel could do with it.
struct Facts {
  std::string flags;  // or the error with which it says none
  bool is_pinned, has_one_address, kernel_stored;
};

Facts facts_of(const Kind& kind) {
  unsigned* const words = kind.get(kind.flags);
  *words = 0xffffffffu;
  unsigned flags = 0, *on_device = nullptr;
  const cudaError_t told = cudaHostGetFlags(&flags, words);
  cudaGetLastError();  // an answer, and no mistake of a later call
  cudaPointerAttributes attributes;
  CUDA_CHECK(cudaPointerGetAttributes(&attributes, words));
  CUDA_CHECK(cudaHostGetDevicePointer(&on_device, words, 0));
  store_word<<<1, 1>>>(on_device, 0x600du);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());  // the host is about to look
  const Facts facts{told == cudaSuccess ? std::to_string(flags) : cudaGetErrorName(told),
                    attributes.type == cudaMemoryTypeHost, on_device == words, *words == 0x600du};
  kind.give_back(words);
  return facts;
}

// A line of the table on the screen and of the CSV.
void add_line(std::string* csv, const std::string& what, unsigned asked, const std::string& has,
              const std::string& pinned = "", const std::string& one_address = "",
              const std::string& stored = "") {
  std::printf("| %-26s | %5u | %21s | %6s | %11s | %6s |\n", what.c_str(), asked, has.c_str(),
              pinned.c_str(), one_address.c_str(), stored.c_str());
  *csv += what + "," + std::to_string(asked) + "," + has + "," + pinned + "," + one_address + "," +
          stored + "\n";
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "09_host_flags", "what do the flags of pinned memory change?", {});
  opt.expect_no_versions();
  require_device(opt);
  std::printf(
      "| what                       | asked |                   has | pinned | one address | "
      "kernel "
      "|\n| -------------------------- | ----: | --------------------: | -----: | ----------: | "
      "-----: |\n");
  std::string csv = "what,asked,has,pinned,one_address,kernel\n";
  add_line(&csv, "device_at_first", 0, std::to_string(flags_of_device()));
  for (const unsigned flags : {cudaDeviceMapHost, cudaDeviceScheduleSpin}) {
    CUDA_CHECK(cudaSetDeviceFlags(flags));
    add_line(&csv, flags == cudaDeviceMapHost ? "device_map_host" : "device_schedule_spin", flags,
             std::to_string(flags_of_device()));
  }
  bool all_stored = true;
  for (const Kind& kind : kKinds) {
    const auto yes = [](bool fact) { return fact ? "yes" : "no"; };
    const Facts facts = facts_of(kind);
    all_stored = all_stored && facts.kernel_stored;
    add_line(&csv, kind.name, kind.flags, facts.flags, yes(facts.is_pinned),
             yes(facts.has_one_address), yes(facts.kernel_stored));
  }
  // "Before anything else": the device is in use now.
  const cudaError_t late = cudaSetDeviceFlags(cudaDeviceMapHost);
  cudaGetLastError();
  add_line(&csv, "device_map_host_late", cudaDeviceMapHost,
           late == cudaSuccess ? std::to_string(flags_of_device()) : cudaGetErrorName(late));
  return all_stored && write_csv(opt, csv) ? kExitOk : kExitWrong;
}
