#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the first GPU's name as a file name: "NVIDIA H200" is h200, "NVIDIA GeForce RTX 4090" is
# rtx_4090, "NVIDIA A100-SXM4-80GB" is a100. Fails where nvidia-smi lists no GPU.
set -u

name=$(nvidia-smi -L 2>/dev/null | sed -n 's/^GPU [0-9]*: \(.*\) (UUID.*/\1/p' | head -1)
[ -n "$name" ] || exit 1
echo "$name" | sed -E 's/^(NVIDIA|Tesla) +//; s/^(GeForce|Tesla|Quadro) +//; s/[ -](SXM|PCI|HBM).*//' |
  tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9]+/_/g; s/_+$//'
