// SPDX-License-Identifier: MIT
#error "<cublasXt.h> is not supported on the CPU backend, <cublas_v2.h> is"
