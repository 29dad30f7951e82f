// SPDX-License-Identifier: MIT
#pragma once

namespace cuda_cpu {

/// True while the calling thread runs a cudaLaunchHostFunc function, which may not call the
/// runtime.
inline thread_local bool running_host_function = false;

}  // namespace cuda_cpu
