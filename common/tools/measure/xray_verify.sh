#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sees to it that there is a GPU with counters to compare with, then hands over to xray_verify.py.
#
#   xray_verify.sh cpu|gpu 'CHAPTER...'
set -u
tools=$(dirname "$(dirname "$0")")

stop() { echo "$2" >&2; exit "$1"; }

[ "$1" = gpu ] || stop 2 "make xray-verify compares with a GPU's counters; here programs run on the CPU backend"
command -v ncu >/dev/null 2>&1 ||
  stop 2 "make xray-verify needs ncu (Nsight Compute): it comes with the CUDA toolkit, and its folder must be on PATH"
gpu=$("$tools/setup/gpu_name.sh") || stop 77 "make xray-verify needs a GPU, and nvidia-smi lists none"
python=$("$tools/setup/python.sh") || stop 2 "make xray-verify needs python3. Run: $("$tools/setup/install.sh" --how python)"
GPU_NAME=$(nvidia-smi -L | sed -n 's/^GPU [0-9]*: \(.*\) (UUID.*/\1/p' | head -1)
GPU_DRIVER=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
GPU_CUDA=$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
export GPU_NAME GPU_DRIVER GPU_CUDA
# shellcheck disable=SC2086  # chapter names are words
exec "$python" "$tools/measure/xray_verify.py" "$gpu" $2
