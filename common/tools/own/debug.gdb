# SPDX-License-Identifier: MIT
# What `make debug` tells gdb. On the CPU backend a CUDA thread is a function call: gdb stops in it as in any other.
set pagination off
set breakpoint pending on
set print thread-events off
set confirm off
# One worker: the threads of a block come one after the other.
set environment CUDA_CPU_WORKERS 1
set environment CUDA_CPU_TIMEOUT 0

define where_am_i
  printf "block (%u,%u,%u), thread (%u,%u,%u)\n", ((unsigned*)&cuda_cpu_block_index)[0], ((unsigned*)&cuda_cpu_block_index)[1], ((unsigned*)&cuda_cpu_block_index)[2], ((unsigned*)&cuda_cpu_thread_index)[0], ((unsigned*)&cuda_cpu_thread_index)[1], ((unsigned*)&cuda_cpu_thread_index)[2]
end
document where_am_i
Block and thread of the kernel that stands here.
end

# A bug that the backend reports stops before the report is printed.
break cuda_cpu::report
break cuda_cpu::finding
