// SPDX-License-Identifier: MIT
// The calls of NCCL.
#pragma once

#include "../../types/site.h"
#include "types.h"

ncclResult_t ncclGetVersion(int* version);
const char* ncclGetErrorString(ncclResult_t result);
const char* ncclGetLastError(ncclComm_t comm);

ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices, CUDA_CPU_SITE);
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                              CUDA_CPU_SITE);
ncclResult_t ncclCommFinalize(ncclComm_t comm, CUDA_CPU_SITE);
ncclResult_t ncclCommDestroy(ncclComm_t comm, CUDA_CPU_SITE);
ncclResult_t ncclCommAbort(ncclComm_t comm, CUDA_CPU_SITE);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error, CUDA_CPU_SITE);
ncclResult_t ncclCommCount(const ncclComm_t comm, int* count, CUDA_CPU_SITE);
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device, CUDA_CPU_SITE);
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank, CUDA_CPU_SITE);

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream, CUDA_CPU_SITE);
ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream,
                        CUDA_CPU_SITE);
ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream, CUDA_CPU_SITE);
ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream, CUDA_CPU_SITE);
ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                           ncclDataType_t type, ncclComm_t comm, cudaStream_t stream,
                           CUDA_CPU_SITE);
ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                               ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream, CUDA_CPU_SITE);
ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream, CUDA_CPU_SITE);
ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream, CUDA_CPU_SITE);

ncclResult_t ncclGroupStart(CUDA_CPU_SITE);
ncclResult_t ncclGroupEnd(CUDA_CPU_SITE);
