// SPDX-License-Identifier: MIT
// On the CPU backend, X-ray counts what a kernel's warps ask of the memory system. Programs that
// are built for it (build/cpu-xray) report by themselves when they end; tests and labs ask here.
//
// On a CPU the 32 lanes of a warp run one after the other. X-ray puts their accesses together
// again: accesses of a warp's lanes are one request if the lanes make them at the same place in the
// code, on the same visit to that place since they last met. Lanes meet at a barrier, in a warp
// operation, and in each turn of a loop that all of them go round equally often, or all but those
// that have returned or pass it by: lanes that skip a part of a turn, or leave an inner loop, wait
// for the others, as on a GPU (tests/xray/loops.test.cu). In a loop that lanes leave after
// different turns, the visits count from its beginning. What nvcc may make of an access other than
// the source says is counted beside it (Way); where nvcc is installed its machine code decides
// (machine_code.h). Where a loop that lanes leave has parts that lanes skip, in the last turns of
// any loop, and where lanes fail different parts of a condition, requests may be fewer here. No
// cache is modelled: the counts say what is asked for, not what is missed. Loads from variables
// that are declared const are not counted, nor what printf asks for: on an H200 (driver 580.159.04,
// CUDA 13.0, 28 November 2026) ncu counted for one call by a warp 222 stores less 7 for each
// argument, with a sector for each lane, 2 loads and 3 more for each byte of the format and of
// strings, their zeros included, and 4 or 5 atomics.
//
// Where an array lies that a thread declares, nvcc decides: in registers if it knows every index
// into it, in local memory otherwise. What it knows is read from the source here: constants, and
// counters of loops whose bounds are constants and that it may unroll. An array with another index
// counts as local memory, but nvcc may still find its way to a register by comparing, if such
// places are few or the array is small (`-Xptxas -v` tells: no stack frame), and it joins accesses
// to neighbouring elements whose indices it knows. An array that is handed to a function counts if
// lanes ever use different elements of it at once. A structure counts whole if it is defined in
// the same file and has an array with such an index. Arrays that are const, and structures whose
// functions index them, are not looked at. What registers do not hold for lack of room (spills)
// goes to local memory, too; only nvcc knows of those. clang does not report accesses to local
// memory.
#pragma once

#include <functional>
#include <vector>

#include "counted.h"

namespace xray {

/// Runs `work` and returns what the launches in it did, with every block counted. `work` must wait
/// for its kernels (cudaDeviceSynchronize). A kernel that is launched again in the same way is
/// returned once. Launches counted so far are out of the way meanwhile, and in the end all is
/// watched as before.
std::vector<Launch> count(const std::function<void()>& work);

}  // namespace xray
