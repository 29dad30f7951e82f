#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sees to it that there is something to profile with, then hands over to profile.py.
#
#   profile.sh cpu|gpu 'CHAPTER...'
set -u
tools=$(dirname "$(dirname "$0")")

stop() { echo "$2" >&2; exit "$1"; }

[ "$1" = gpu ] || stop 2 "make profile reads a GPU's counters; here programs run on the CPU backend"
command -v ncu >/dev/null 2>&1 ||
  stop 2 "make profile needs ncu (Nsight Compute): it comes with the CUDA toolkit, and its folder must be on PATH"
gpu=$("$tools/setup/gpu_name.sh") || stop 77 "make profile needs a GPU, and nvidia-smi lists none"
python=$("$tools/setup/python.sh") || stop 2 "make profile needs python3. Run: $("$tools/setup/install.sh" --how python)"
GPU_NAME=$(nvidia-smi -L | sed -n 's/^GPU [0-9]*: \(.*\) (UUID.*/\1/p' | head -1)
export GPU_NAME
# shellcheck disable=SC2086  # chapter names are words
exec "$python" "$tools/measure/predictions.py" "$gpu" $2
