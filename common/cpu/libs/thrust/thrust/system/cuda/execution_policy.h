// SPDX-License-Identifier: MIT
#error "Thrust's policies for CUDA streams are not supported on the CPU backend, thrust::device is"
