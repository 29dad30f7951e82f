#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Chooses the backend and says why, in one line: "gpu ARCH WHY", "cpu WHY", or "error WHAT TO DO".
# nvcc compiles for ARCH unless told otherwise: native, or all-major on a machine without a GPU.
#
#   backend.sh auto|gpu|cpu [NVCC]
set -u

asked=$1
nvcc=${2:-nvcc}

nvcc_path=$(command -v "$nvcc" 2>/dev/null)
nvcc_version() {
  "$nvcc_path" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p' | head -1
}
# The name of the first GPU that the driver lists; nothing when there is no driver or no GPU.
gpu_name() {
  nvidia-smi -L 2>/dev/null | sed -n 's/^GPU [0-9]*: \(.*\) (UUID.*/\1/p' | head -1
}
where_nvcc_may_be() {
  if [ "$nvcc" = nvcc ] && [ -x /usr/local/cuda/bin/nvcc ]; then
    echo "it is not on PATH but here: export PATH=/usr/local/cuda/bin:\$PATH"
  else
    echo "install the CUDA toolkit, https://developer.nvidia.com/cuda-downloads"
  fi
}

gpu=''
case $asked in gpu | auto) gpu=$(gpu_name) ;; esac
case $asked:${nvcc_path:+nvcc}:${gpu:+device} in
  cpu:*) echo "cpu as asked" ;;
  gpu::*) echo "error BACKEND=gpu needs nvcc: $(where_nvcc_may_be); BACKEND=cpu runs without it" ;;
  gpu:nvcc:) echo "gpu all-major as asked, by nvcc $(nvcc_version); nvidia-smi lists no GPU: programs compile but cannot run" ;;
  gpu:nvcc:device) echo "gpu native as asked: $gpu, nvcc $(nvcc_version)" ;;
  auto:nvcc:device) echo "gpu native $gpu, nvcc $(nvcc_version)" ;;
  auto::device) echo "cpu there is a $gpu but no nvcc: $(where_nvcc_may_be)" ;;
  auto:nvcc:) echo "cpu nvcc is here, but nvidia-smi lists no GPU" ;;
  auto::) echo "cpu no NVIDIA GPU here" ;;
  *) echo "error BACKEND=$asked: expected auto, gpu or cpu" ;;
esac
