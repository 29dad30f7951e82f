// SPDX-License-Identifier: MIT
// When does the device run which of two kernels?
//
// Each kernel looks at the clock all the time. Where the clock has jumped, it did not run.

#include "../../../common/common.cuh"
#include "../driver.cuh"

constexpr std::uint64_t kPause = 20000;  // ns between two looks, from which on it did not run
constexpr unsigned kMostPieces = 256;

// From when to when a kernel ran.
struct Pieces {
  unsigned count;
  std::uint64_t begin_ns[kMostPieces], end_ns[kMostPieces];
};

// Ends when it has run for so long, whatever was between its pieces.
__global__ void run_for(std::uint64_t ns, Pieces* pieces) {
  std::uint64_t last = global_timer_ns(), ran = 0;
  unsigned piece = 0;
  pieces->begin_ns[0] = last;
  while (ran < ns) {
    const std::uint64_t now = global_timer_ns();
    if (now - last < kPause) {
      ran += now - last;
    } else if (piece + 1 < kMostPieces) {
      pieces->end_ns[piece] = last;
      pieces->begin_ns[++piece] = now;
    }
    last = now;
  }
  pieces->end_ns[piece] = last;
  pieces->count = piece + 1;
}

// One of the two kernels: its context, and there a stream and what it notes.
struct Kernel {
  explicit Kernel(CUcontext context) : home(context) {
    DRIVER_CHECK(cuCtxSetCurrent(home));
    DRIVER_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER_CHECK(cuMemAlloc(&noted, sizeof(Pieces)));
    const Pieces nothing{};
    DRIVER_CHECK(cuMemcpyHtoD(noted, &nothing, sizeof nothing));
  }
  void launch(std::uint64_t ns) const {
    DRIVER_CHECK(cuCtxSetCurrent(home));
    run_for<<<1, 1, 0, stream>>>(ns, reinterpret_cast<Pieces*>(noted));
    CUDA_CHECK_LAUNCH();
  }
  Pieces wait() const {
    Pieces pieces;
    DRIVER_CHECK(cuCtxSetCurrent(home));
    DRIVER_CHECK(cuStreamSynchronize(stream));
    DRIVER_CHECK(cuMemcpyDtoH(&pieces, noted, sizeof pieces));
    return pieces;
  }

  CUcontext home;
  CUstream stream = nullptr;
  CUdeviceptr noted = 0;
};

// In order, and together as long as was asked for.
bool are_whole(const Pieces& pieces, std::uint64_t ns) {
  if (pieces.count == 0 || pieces.count > kMostPieces) return false;
  std::uint64_t ran = 0;
  for (unsigned k = 0; k < pieces.count; ++k) {
    if (pieces.end_ns[k] < pieces.begin_ns[k]) return false;
    if (k > 0 && pieces.begin_ns[k] < pieces.end_ns[k - 1] + kPause) return false;
    ran += pieces.end_ns[k] - pieces.begin_ns[k];
  }
  return ran >= ns && ran < ns + kPause;
}

// A piece of either kernel.
struct Piece {
  std::uint64_t begin_ns, end_ns;
  std::size_t kernel;
};

// Of both kernels, as they began.
std::vector<Piece> in_order(const std::vector<Pieces>& kernels) {
  std::vector<Piece> all;
  for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel) {
    for (unsigned k = 0; k < kernels[kernel].count; ++k) {
      all.push_back({kernels[kernel].begin_ns[k], kernels[kernel].end_ns[k], kernel});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Piece& a, const Piece& b) { return a.begin_ns < b.begin_ns; });
  return all;
}

// How often the device went from one kernel to the other, and how long neither ran meanwhile. False
// in `apart` if both ran at some time.
struct Turns {
  std::size_t count = 0;
  std::uint64_t idle_ns = 0;
  bool apart = true;
};
Turns turns_between(const std::vector<Piece>& pieces) {
  Turns turns;
  std::uint64_t until = pieces.at(0).end_ns;
  for (std::size_t k = 1; k < pieces.size(); ++k) {
    if (pieces[k].kernel != pieces[k - 1].kernel) ++turns.count;
    if (pieces[k].begin_ns < until)
      turns.apart = false;
    else
      turns.idle_ns += pieces[k].begin_ns - until;
    until = std::max(until, pieces[k].end_ns);
  }
  return turns;
}

// A row, its pieces for the CSV, and below the table a line for each kernel.
void draw(ResultTable& table, const std::string& name, const std::vector<Pieces>& kernels,
          std::uint64_t ns) {
  const bool ok = are_whole(kernels.at(0), ns) && are_whole(kernels.at(1), ns);
  if (!ok) return table.row(name, timing_of({0}), 0, false);
  const std::vector<Piece> pieces = in_order(kernels);
  const std::uint64_t zero = pieces[0].begin_ns;
  std::uint64_t last = 0;
  for (const Piece& piece : pieces) last = std::max(last, piece.end_ns - zero);
  const Turns turns = turns_between(pieces);
  table.row(name, timing_of({last / 1e6}), 0, true, turns.apart ? "in turn" : "at once");
  std::vector<std::string> lines(kernels.size(), std::string(61, '.'));
  std::vector<std::size_t> seen(kernels.size());
  for (const Piece& piece : pieces) {
    const std::uint64_t begin = piece.begin_ns - zero, end = piece.end_ns - zero;
    const std::string of =
        text(name, " kernel=", piece.kernel, " piece=", seen[piece.kernel]++, " ");
    table.measured(of + "begin", begin / 1e6, "ms");
    table.measured(of + "end", end / 1e6, "ms");
    for (std::uint64_t at = 60 * begin / last; at <= 60 * end / last; ++at) {
      lines[piece.kernel][at] = '#';
    }
  }
  table.measured(name + " turns", static_cast<double>(turns.count), "", name, ": ", turns.count,
                 turns.count == 1 ? " turn" : " turns", "; neither ran for ", turns.idle_ns / 1000,
                 " us");
  table.measured(name + " idle", turns.idle_ns / 1e3, "us");
  for (const std::string& line : lines) table.note("  |", line);
}

int main(int argc, char** argv) {
  std::size_t us = kOnGpu ? 9400 : 100;
  const Options opt(argc, argv, "18_slices", "when does the device run which of two kernels?",
                    {{"us", &us, 1, 1_Mi, "that each kernel runs"}});
  ResultTable table(opt, 2 * sizeof(Pieces));
  table.without_speedup();
  const CUdevice device = device_of(opt);
  const CUcontext one = create_context(device), other = create_context(device);
  const std::uint64_t ns = 1000 * us;
  const auto add = [&](const char* name, const char* summary, CUcontext of_second) {
    if (!table.wants(name, summary)) return;
    const std::vector<Kernel> two = {Kernel(one), Kernel(of_second)};
    std::vector<Pieces> pieces;
    for (int sample = 0; sample < 2; ++sample) {  // the first one warms up
      for (const Kernel& kernel : two) kernel.launch(ns);
      pieces.clear();
      for (const Kernel& kernel : two) pieces.push_back(kernel.wait());
    }
    draw(table, name, pieces, ns);
  };
  add("one_context", "in two streams of one context", one);
  add("two_contexts", "each in a context of its own", other);
  DRIVER_CHECK(cuCtxDestroy(one));
  DRIVER_CHECK(cuCtxDestroy(other));
  return table.finish();
}
