// SPDX-License-Identifier: MIT
#include "terms.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../../engine/arithmetic/short_floats.h"
#include "../../engine/diagnosis/faults.h"
#include "../../report/text.h"

namespace cuda_cpu {
namespace {

struct TypeName {
  const char* name;
  std::size_t size;
};
constexpr TypeName kTypes[] = {
    {"ncclInt8", 1},   {"ncclUint8", 1}, {"ncclInt", 4},   {"ncclUint32", 4}, {"ncclInt64", 8},
    {"ncclUint64", 8}, {"ncclHalf", 2},  {"ncclFloat", 4}, {"ncclDouble", 8}, {"ncclBfloat16", 2}};
constexpr const char* kOps[] = {"ncclSum", "ncclProd", "ncclMax", "ncclMin", "ncclAvg", "none"};

/// A number of 16 bits, rounded after each operation, which is made in double.
template <class Format>
struct Short {
  std::uint16_t bits;

  Short(double value = 0) : bits(Format::round(value)) {}
  operator double() const { return static_cast<double>(Format::value(bits)); }
};

/// Integers wrap around, as on a GPU.
template <class T>
T combined(T a, T b, ncclRedOp_t op) {
  if (op == ncclMax) return a < b ? b : a;
  if (op == ncclMin) return b < a ? b : a;
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<T>(op == ncclProd ? x * y : x + y);
  } else {
    return op == ncclProd ? a * b : a + b;
  }
}

/// `count` elements from `first` on. The mean of floating-point numbers adds what each rank has,
/// divided by their number; that of integers divides the sum.
template <class T>
void reduce(const NcclTerms& terms, const std::vector<const char*>& inputs, std::size_t first,
            std::size_t count, char* to) {
  const auto element = [&](std::size_t rank, std::size_t i) {
    T value;
    std::memcpy(&value, inputs[rank] + (first + i) * sizeof(T), sizeof(T));
    if constexpr (!std::is_integral_v<T>) {
      if (terms.op == ncclAvg)
        value = value * static_cast<T>(1.0 / static_cast<double>(inputs.size()));
    }
    return value;
  };
  for (std::size_t i = 0; i < count; ++i) {
    T value = element(0, i);
    for (std::size_t rank = 1; rank < inputs.size(); ++rank) {
      value = combined(value, element(rank, i), terms.op);
    }
    if constexpr (std::is_integral_v<T>) {
      if (terms.op == ncclAvg) value = static_cast<T>(value / static_cast<T>(inputs.size()));
    }
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
}

void reduce(const NcclTerms& terms, const std::vector<const char*>& inputs, std::size_t first,
            char* to) {
  const auto with = [&](auto zero) {
    reduce<decltype(zero)>(terms, inputs, first, terms.count, to);
  };
  switch (static_cast<int>(terms.type)) {
    case ncclInt8:
      return with(std::int8_t{});
    case ncclUint8:
      return with(std::uint8_t{});
    case ncclInt32:
      return with(std::int32_t{});
    case ncclUint32:
      return with(std::uint32_t{});
    case ncclInt64:
      return with(std::int64_t{});
    case ncclUint64:
      return with(std::uint64_t{});
    case ncclFloat16:
      return with(Short<HalfFormat>{});
    case ncclFloat32:
      return with(float{});
    case ncclFloat64:
      return with(double{});
    default:
      return with(Short<Bfloat16Format>{});
  }
}

}  // namespace

std::size_t NcclTerms::bytes_read(int rank, int ranks) const {
  const std::size_t one = count * size_of(type);
  if (call == NcclCall::kReceive || (call == NcclCall::kBroadcast && rank != root)) return 0;
  return call == NcclCall::kReduceScatter ? one * static_cast<std::size_t>(ranks) : one;
}

std::size_t NcclTerms::bytes_written(int rank, int ranks) const {
  const std::size_t one = count * size_of(type);
  if (call == NcclCall::kSend || (call == NcclCall::kReduce && rank != root)) return 0;
  return call == NcclCall::kAllGather ? one * static_cast<std::size_t>(ranks) : one;
}

const char* name_of(NcclCall call) {
  constexpr const char* kNames[] = {"ncclAllReduce", "ncclReduce",        "ncclBroadcast",
                                    "ncclAllGather", "ncclReduceScatter", "ncclSend",
                                    "ncclRecv"};
  return kNames[static_cast<int>(call)];
}

bool is_known(ncclDataType_t type) { return type >= ncclInt8 && type <= ncclBfloat16; }

std::size_t size_of(ncclDataType_t type) { return kTypes[type].size; }

std::string text_of(const NcclTerms& it) {
  std::string text = format("%s of %zu %s", name_of(it.call), it.count, kTypes[it.type].name);
  if (it.op != ncclNumOps) text += format(", %s", kOps[it.op]);
  if (it.call == NcclCall::kSend) return text + format(" to rank %d", it.root);
  if (it.call == NcclCall::kReceive) return text + format(" from rank %d", it.root);
  return it.root < 0 ? text : text + format(", root %d", it.root);
}

std::string difference(const NcclTerms& a, const NcclTerms& b) {
  if (a.is_collective() && a.call != b.call) {
    return format("the call: %s and %s", name_of(a.call), name_of(b.call));
  }
  if (a.count != b.count) return format("the count: %zu and %zu", a.count, b.count);
  if (a.type != b.type) {
    return format("the type: %s and %s", kTypes[a.type].name, kTypes[b.type].name);
  }
  if (!a.is_collective()) return "";  // the peers are two
  if (a.op != b.op) return format("the operation: %s and %s", kOps[a.op], kOps[b.op]);
  return a.root == b.root ? "" : format("the root: %d and %d", a.root, b.root);
}

std::string result_of(const NcclTerms& terms, int rank, const std::vector<const char*>& inputs) {
  const int ranks = static_cast<int>(inputs.size());
  const std::size_t bytes = terms.bytes_written(rank, ranks);
  if (bytes == 0) return "";
  std::string result(bytes, '\0');
  const void* fault = nullptr;
  if (terms.call == NcclCall::kBroadcast) {
    guarded_copy(&result[0], inputs[static_cast<std::size_t>(terms.root)], bytes, &fault);
    return result;
  }
  if (terms.call == NcclCall::kAllGather) {
    const std::size_t part = bytes / inputs.size();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      guarded_copy(&result[i * part], inputs[i], part, &fault);
    }
    return result;
  }
  const bool is_scattered = terms.call == NcclCall::kReduceScatter;
  reduce(terms, inputs, is_scattered ? static_cast<std::size_t>(rank) * terms.count : 0,
         &result[0]);
  return result;
}

}  // namespace cuda_cpu
