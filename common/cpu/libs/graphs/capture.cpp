// SPDX-License-Identifier: MIT
#include "capture.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../../report/diagnostics.h"
#include "../../runtime/capture.h"
#include "../../runtime/errors.h"
#include "../../types/the_only.h"
#include "graph.h"
#include "graphs.h"

namespace cuda_cpu {
namespace {

struct Captures {
  std::recursive_mutex mutex;
  std::vector<std::shared_ptr<Capture>> active;
  unsigned long long ids = 0;
};

std::atomic<int> active_captures{0};

struct Reason {
  const char* what;
  const char* help;
};

Reason reason_of(int error) {
  switch (error) {
    case cudaErrorNotSupported:
      return {"on a GPU this becomes part of the graph; the CPU backend has no such nodes",
              "do it before the capture begins or after it has ended"};
    case cudaErrorStreamCaptureMerge:
      return {"two captures would become one", "let only one of the streams begin a capture"};
    case cudaErrorStreamCaptureUnmatched:
      return {"it names another stream than the one in which the capture began",
              "end the capture in the stream that is named here"};
    case cudaErrorStreamCaptureUnjoined:
      return {"another stream of the capture has work that this stream does not wait for",
              "record an event after that work, and let this stream wait for it before the capture "
              "ends"};
    case cudaErrorStreamCaptureIsolation:
      return {"the event was recorded outside the capture, so the graph cannot wait for it",
              "wait for it before the capture begins, or record it in a stream of the capture"};
    case cudaErrorStreamCaptureImplicit:
      return {"the default stream waits for every blocking stream, so for the captured one, too",
              "use a stream of your own meanwhile, or capture one that was made with "
              "cudaStreamNonBlocking"};
    case cudaErrorCapturedEvent:
      return {"the event was recorded in the capture: nothing of it has run",
              "wait for the stream in which the graph is launched"};
    default:
      return {"it is not allowed while a stream is captured: nothing of that stream runs yet",
              "call it before cudaStreamBeginCapture or after cudaStreamEndCapture"};
  }
}

/// What has been captured is of no use any more.
int spoil(Capture& capture, int error, const std::string& call) {
  if (!capture.valid) return error;
  capture.valid = false;
  const Reason reason = reason_of(error);
  return misuse(capture.began, error,
                format("the capture that begins here is invalid after %s", call.c_str()),
                {reason.what}, {}, reason.help);
}

std::string name_of(const WorkLabel& label) {
  return *label.kernel == '\0' ? label.call : format("kernel '%s'", label.kernel);
}

/// A capture that the legacy default stream would have to wait for.
Capture* blocking_capture() {
  for (const auto& capture : the_only<Captures>().active) {
    for (const CUstream_st* const stream : capture->streams) {
      if (stream->is_blocking()) return capture.get();
    }
  }
  return nullptr;
}

void add_unique(Nodes* nodes, const Nodes& more) {
  for (CUgraphNode_st* const node : more) {
    if (std::find(nodes->begin(), nodes->end(), node) == nodes->end()) nodes->push_back(node);
  }
}

/// A stream that takes no part in a capture.
bool refuse_outside(CUstream_st* stream, const Moment* after, const WorkLabel& label, int* error) {
  *error = 0;
  if (after != nullptr && after->capture != nullptr) {
    Capture& from = *after->capture;
    if (!from.active) {
      *error = cudaErrorInvalidValue;
    } else if (stream->is_default) {
      *error = spoil(from, cudaErrorStreamCaptureImplicit, name_of(label));
    } else if (!from.valid) {
      *error = cudaErrorStreamCaptureInvalidated;
    } else {
      stream->capture = after->capture;
      stream->captured_last = after->captured;
      from.streams.push_back(stream);
    }
    return true;
  }
  Capture* const waited_for = stream->is_default ? blocking_capture() : nullptr;
  if (waited_for == nullptr) return false;
  *error = spoil(*waited_for, cudaErrorStreamCaptureImplicit, name_of(label));
  return true;
}

cudaGraphNodeType type_of(WorkKind kind) {
  if (kind == WorkKind::kKernel) return cudaGraphNodeTypeKernel;
  if (kind == WorkKind::kCopy) return cudaGraphNodeTypeMemcpy;
  return kind == WorkKind::kFill ? cudaGraphNodeTypeMemset : cudaGraphNodeTypeHost;
}

int take(CUstream_st* stream, Work* work) {
  Capture& capture = *stream->capture;
  if (!capture.valid) return cudaErrorStreamCaptureInvalidated;
  if (const Moment* const after = work->after.get()) {
    if (after->capture == nullptr) {
      return spoil(capture, cudaErrorStreamCaptureIsolation, work->label.call);
    }
    if (!after->capture->active) return cudaErrorInvalidValue;
    if (after->capture != stream->capture) {
      spoil(*after->capture, cudaErrorStreamCaptureMerge, work->label.call);
      return spoil(capture, cudaErrorStreamCaptureMerge, work->label.call);
    }
    add_unique(&stream->captured_last, after->captured);
    return 0;
  }
  if (work->marks != nullptr) {
    work->marks->capture = stream->capture;
    work->marks->captured = stream->captured_last;
    return 0;
  }
  if (work->kind == WorkKind::kOther) {
    return spoil(capture, cudaErrorStreamCaptureUnsupported, work->label.call);
  }
  const Nodes& after = stream->captured_last;
  stream->captured_last = {
      add_node(capture.graph, {type_of(work->kind), std::move(*work)}, after.data(), after.size())};
  return 0;
}

/// Whether all work of the capture comes before what the stream in which it began would do next.
bool is_joined(const Capture& capture) {
  Nodes reached = capture.origin->captured_last;
  for (std::size_t i = 0; i < reached.size(); ++i) add_unique(&reached, reached[i]->after);
  for (const CUstream_st* const stream : capture.streams) {
    for (const CUgraphNode_st* const last : stream->captured_last) {
      if (std::find(reached.begin(), reached.end(), last) == reached.end()) return false;
    }
  }
  return true;
}

void end(std::shared_ptr<Capture> capture) {
  for (CUstream_st* const stream : capture->streams) {
    stream->captured_last.clear();
    stream->capture.reset();
  }
  capture->active = false;
  auto& active = the_only<Captures>().active;
  active.erase(std::find(active.begin(), active.end(), capture));
  active_captures = static_cast<int>(active.size());
}

bool take_work(CUstream_st* stream, Work* work, int* error) {
  if (stream->recorder != nullptr) {
    stream->recorder->push_back(std::move(*work));
    *error = 0;
    return true;
  }
  const Moment* const after = work->after.get();
  if (active_captures == 0 && (after == nullptr || after->capture == nullptr)) return false;
  const std::lock_guard<std::recursive_mutex> lock(the_only<Captures>().mutex);
  if (stream->capture == nullptr) return refuse_outside(stream, after, work->label, error);
  *error = take(stream, work);
  return true;
}

/// Spoils the captures that forbid a call.
template <class Forbids>
int spoil_those(const char* call, Forbids forbids) {
  if (active_captures == 0) return 0;
  const auto [all, lock] = locked<Captures>();
  int error = 0;
  for (const auto& capture : all.active) {
    if (forbids(*capture)) error = spoil(*capture, cudaErrorStreamCaptureUnsupported, call);
  }
  return error;
}

int unsafe(const char* call) {
  return spoil_those(call, [](const Capture& capture) {
    if (capture.mode == cudaStreamCaptureModeRelaxed) return false;
    return capture.mode == cudaStreamCaptureModeGlobal ||
           capture.thread == std::this_thread::get_id();
  });
}

int never(const char* call) {
  return spoil_those(call, [](const Capture&) { return true; });
}

int never_of(CUstream_st* handle, const char* call) {
  if (active_captures == 0) return 0;
  const std::lock_guard<std::recursive_mutex> lock(the_only<Captures>().mutex);
  const CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr) return 0;
  if (stream->capture != nullptr) {
    return spoil(*stream->capture, cudaErrorStreamCaptureUnsupported, call);
  }
  Capture* const waited_for = stream->is_default ? blocking_capture() : nullptr;
  if (waited_for != nullptr) return spoil(*waited_for, cudaErrorStreamCaptureImplicit, call);
  return unsafe(call);
}

int unsupported(CUstream_st* handle, const char* call) {
  if (active_captures == 0) return 0;
  const std::lock_guard<std::recursive_mutex> lock(the_only<Captures>().mutex);
  const CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr || stream->capture == nullptr) return 0;
  return spoil(*stream->capture, cudaErrorNotSupported, call);
}

int event(const Moment* moment, const char* call) {
  if (moment == nullptr || moment->capture == nullptr) return unsafe(call);
  const std::lock_guard<std::recursive_mutex> lock(the_only<Captures>().mutex);
  if (!moment->capture->active) return cudaErrorInvalidValue;
  return spoil(*moment->capture, cudaErrorCapturedEvent, call);
}

void forget() {
  {
    const auto [all, lock] = locked<Captures>();
    while (!all.active.empty()) end(all.active.back());
  }
  forget_graphs();
}

const bool are_known =
    (capture_rules = {take_work, unsafe, never, never_of, unsupported, event, forget}, true);

}  // namespace
}  // namespace cuda_cpu

using namespace cuda_cpu;

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode, Site site) {
  CUDA_CPU_BEGIN_CALL();
  CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
    return finish(cudaErrorInvalidValue);
  }
  const auto [all, lock] = locked<Captures>();
  if (stream->is_default) {
    if (Capture* const other = blocking_capture()) {
      return finish(spoil(*other, cudaErrorStreamCaptureImplicit, "cudaStreamBeginCapture"));
    }
    return finish(misuse(site, cudaErrorStreamCaptureUnsupported,
                         "the default stream cannot be captured", {}, {},
                         "make a stream with cudaStreamCreate and use it"));
  }
  if (stream->capture != nullptr) return finish(cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>();
  capture->id = ++all.ids;
  capture->graph = create_graph();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream;
  capture->streams = {stream};
  capture->began = site;
  stream->capture = capture;
  all.active.push_back(std::move(capture));
  active_captures = static_cast<int>(all.active.size());
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  CUDA_CPU_BEGIN_CALL();
  CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (graph == nullptr) return finish(cudaErrorInvalidValue);
  const std::lock_guard<std::recursive_mutex> lock(the_only<Captures>().mutex);
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return finish(cudaErrorIllegalState);
  if (capture->origin != stream) {
    return finish(spoil(*capture, cudaErrorStreamCaptureUnmatched, "cudaStreamEndCapture"));
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return finish(cudaErrorStreamCaptureWrongThread);
  }
  int error = capture->valid ? 0 : int{cudaErrorStreamCaptureInvalidated};
  if (error == 0 && !is_joined(*capture)) {
    error = spoil(*capture, cudaErrorStreamCaptureUnjoined, "cudaStreamEndCapture");
  }
  end(capture);
  *graph = error == 0 ? capture->graph : nullptr;
  if (error != 0) delete capture->graph;
  return finish(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  CUDA_CPU_BEGIN_CALL();
  const CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (status == nullptr) return finish(cudaErrorInvalidValue);
  const std::lock_guard<std::recursive_mutex> lock(the_only<Captures>().mutex);
  if (stream->is_default && blocking_capture() != nullptr) {
    return finish(cudaErrorStreamCaptureImplicit);
  }
  *status = cudaStreamCaptureStatusNone;
  if (stream->capture == nullptr) return cudaSuccess;
  const Capture& capture = *stream->capture;
  *status = capture.valid ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
  if (id != nullptr) *id = capture.id;
  if (!capture.valid) return cudaSuccess;
  if (graph != nullptr) *graph = capture.graph;
  if (dependencies != nullptr) *dependencies = stream->captured_last.data();
  if (edges != nullptr) *edges = nullptr;  // all of them are plain
  if (count != nullptr) *count = stream->captured_last.size();
  return cudaSuccess;
}
