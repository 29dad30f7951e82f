#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes sure that a GPU's counters can be read, then lets predictions.py, xray_verify.py or own_profile.py read them.
#
#   counters.sh profile|xray-verify cpu|gpu 'CHAPTER...'
#   counters.sh profile cpu|gpu own/NAME [OPTION...]        a program of one's own
set -u
tools=$(dirname "$(dirname "$0")")

verb=$1
stop() { echo "make $verb $2" >&2; exit "$1"; }

[ "$2" = gpu ] || stop 2 "reads a GPU's counters; here programs run on the CPU backend"
command -v ncu >/dev/null 2>&1 ||
  stop 2 "needs ncu (Nsight Compute): it comes with the CUDA toolkit, and its folder must be on PATH"
gpu=$("$tools/setup/gpu_name.sh") || stop 77 "needs a GPU, and nvidia-smi lists none"
python=$("$tools/setup/python.sh") || stop 2 "needs python3. Run: $("$tools/setup/install.sh" --how python)"
GPU_NAME=$(nvidia-smi -L | sed -n 's/^GPU [0-9]*: \(.*\) (UUID.*/\1/p' | head -1)
GPU_DRIVER=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
GPU_CUDA=$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
export GPU_NAME GPU_DRIVER GPU_CUDA
case $3 in
  own/*) exec "$python" "$tools/measure/own_profile.py" "build/gpu/$3" "${@:4}" ;;
esac
case $verb in
  profile) script=predictions.py ;;
  xray-verify) script=xray_verify.py ;;
esac
# shellcheck disable=SC2086  # chapter names are words
exec "$python" "$tools/measure/$script" "$gpu" $3
