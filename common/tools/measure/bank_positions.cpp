// SPDX-License-Identifier: MIT
// How the banks serve a load or store whose lanes lie evenly apart, by X-ray's model: what readers
// can choose in the site's figures of banks. Prints results/banks.json; xray_traces.py runs it.
//
//   {"load": {"requests": [{"ideal": passes at best, "passes": [the pass of each lane, from 0]},
//   ..],
//             "positions": {"STRIDE BYTES PADDING": which of these, ..}}}
//
// STRIDE: in elements of so many BYTES; PADDING: elements after every 128 bytes.
#include <cstdio>
#include <map>
#include <string>

#include "common/cpu/xray/model.h"

namespace {

std::string request_at(xray::Operation operation, unsigned stride, unsigned bytes,
                       unsigned padding) {
  xray::Request request;
  request.space = xray::Space::kShared;
  request.operation = operation;
  request.bytes = bytes;
  request.mask = ~0u;
  for (unsigned lane = 0; lane < xray::kLanes; ++lane) {
    const unsigned offset = lane * stride * bytes;
    request.address[lane] = offset + offset / 128 * padding * bytes;
  }
  std::string text = "{\"ideal\":" + std::to_string(xray::counts_of(request).ideal_wavefronts);
  text += ",\"passes\":";
  char separator = '[';
  for (const unsigned pass : xray::passes_of(request).of_lane) {
    text += separator + std::to_string(pass);
    separator = ',';
  }
  return text + "]}";
}

void print(const std::string& name, xray::Operation operation) {
  std::map<std::string, std::size_t> numbers;
  std::string requests, positions;
  for (unsigned stride = 0; stride <= 33; ++stride) {
    for (const unsigned bytes : {4u, 8u, 16u}) {
      for (unsigned padding = 0; padding <= 2; ++padding) {
        const std::string request = request_at(operation, stride, bytes, padding);
        const auto [found, is_new] = numbers.emplace(request, numbers.size());
        if (is_new) requests += (requests.empty() ? "\n" : ",\n") + request;
        positions += (positions.empty() ? "\"" : ",\"") + std::to_string(stride) + " " +
                     std::to_string(bytes) + " " + std::to_string(padding) +
                     "\":" + std::to_string(found->second);
      }
    }
  }
  std::printf("{\"%s\":{\"requests\":[%s],\n\"positions\":{%s}}}\n", name.c_str(), requests.c_str(),
              positions.c_str());
}

}  // namespace

int main(int, char** argv) {
  const std::string name = argv[1];
  print(name, name == "load" ? xray::Operation::kLoad : xray::Operation::kStore);
}
