// SPDX-License-Identifier: MIT
// Stands in for <nccl.h> on the CPU backend: communicators within a process and between those of
// one machine, collectives, sends and receives, groups. prepass/refused.h names what is missing.
#pragma once

#define NCCL_H_

#include <limits.h>

#include "../libs/nccl/calls.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"
