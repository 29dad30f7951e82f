// SPDX-License-Identifier: MIT
// What of CUDA the CPU backend has not, by name: a use of one of these is one line from the
// compiler, at the program's own line. What needs an argument to be refused is refused where it is
// called.
#pragma once

namespace prepass {

/// Names of one kind. The first lines of a file that uses one make it a macro of
/// runtime/refused.h.
struct Refused {
  enum Kind { kType, kCall, kValue, kAttribute } kind;
  const char* what;   ///< "the CPU backend has ..."
  const char* names;  ///< with spaces between
};

constexpr Refused kRefused[] = {
    {Refused::kAttribute, "no clusters of blocks", "__cluster_dims__"},
    {Refused::kCall, "no clusters of blocks",
     "this_cluster cudaOccupancyMaxActiveClusters cudaOccupancyMaxPotentialClusterSize"},
    {Refused::kType, "no memory of other processes (IPC)",
     "cudaIpcMemHandle_t cudaIpcEventHandle_t"},
    {Refused::kCall, "no memory of other processes (IPC)",
     "cudaIpcGetMemHandle cudaIpcOpenMemHandle cudaIpcCloseMemHandle "
     "cudaIpcGetEventHandle cudaIpcOpenEventHandle cudaMemPoolExportToShareableHandle "
     "cudaMemPoolImportFromShareableHandle cudaMemPoolExportPointer "
     "cudaMemPoolImportPointer"},
    {Refused::kCall, "no mipmapped arrays",
     "cudaMallocMipmappedArray cudaFreeMipmappedArray cudaGetMipmappedArrayLevel "
     "tex2DLod tex1DLod tex3DLod tex2DGrad tex1DGrad tex3DGrad"},
    {Refused::kCall, "no layered textures",
     "tex1DLayered tex2DLayered surf1DLayeredread surf1DLayeredwrite surf2DLayeredread "
     "surf2DLayeredwrite"},
    {Refused::kCall, "no cubemaps", "texCubemap texCubemapLayered"},
    {Refused::kCall, "no sparse arrays", "cudaArrayGetSparseProperties cudaArrayGetPlane"},
    {Refused::kType, "no memory and semaphores of other APIs",
     "cudaExternalMemory_t cudaExternalSemaphore_t"},
    {Refused::kCall, "no memory and semaphores of other APIs",
     "cudaImportExternalMemory cudaImportExternalSemaphore "
     "cudaSignalExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync "
     "cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode"},
    {Refused::kType, "no graphics (OpenGL, Direct3D, Vulkan)", "cudaGraphicsResource_t"},
    {Refused::kCall, "no graphics (OpenGL, Direct3D, Vulkan)",
     "cudaGraphicsMapResources cudaGraphicsUnmapResources "
     "cudaGraphicsResourceGetMappedPointer cudaGraphicsUnregisterResource "
     "cudaGraphicsSubResourceGetMappedArray"},
    {Refused::kCall, "no graphs that allocate or free",
     "cudaGraphAddMemAllocNode cudaGraphAddMemFreeNode cudaDeviceGraphMemTrim "
     "cudaDeviceGetGraphMemAttribute cudaDeviceSetGraphMemAttribute"},
    {Refused::kType, "no cudaGraphNodeParams: use cudaGraphAddKernelNode and its like",
     "cudaGraphNodeParams"},
    {Refused::kCall, "no cudaGraphNodeParams: use cudaGraphAddKernelNode and its like",
     "cudaGraphAddNode cudaGraphNodeSetParams cudaGraphExecNodeSetParams"},
    {Refused::kType, "no conditional nodes of graphs", "cudaGraphConditionalHandle"},
    {Refused::kCall, "no conditional nodes of graphs",
     "cudaGraphConditionalHandleCreate cudaGraphSetConditional"},
    {Refused::kCall, "no launches of graphs by device code", "cudaGetCurrentGraphExec"},
    {Refused::kCall,
     "no other new parameters for copies than those of cudaGraphMemcpyNodeSetParams1D",
     "cudaGraphMemcpyNodeSetParams cudaGraphMemcpyNodeGetParams "
     "cudaGraphExecMemcpyNodeSetParams cudaGraphMemcpyNodeSetParamsToSymbol "
     "cudaGraphMemcpyNodeSetParamsFromSymbol cudaGraphExecMemcpyNodeSetParamsToSymbol "
     "cudaGraphExecMemcpyNodeSetParamsFromSymbol"},
    {Refused::kCall, "no attributes of kernel nodes",
     "cudaGraphKernelNodeSetAttribute cudaGraphKernelNodeGetAttribute "
     "cudaGraphKernelNodeCopyAttributes"},
    {Refused::kType, "no user objects of graphs", "cudaUserObject_t"},
    {Refused::kCall, "no user objects of graphs",
     "cudaUserObjectCreate cudaUserObjectRetain cudaUserObjectRelease "
     "cudaGraphRetainUserObject cudaGraphReleaseUserObject"},
    {Refused::kType, "no copies between arrays of several devices", "cudaMemcpy3DPeerParms"},
    {Refused::kCall, "no copies between arrays of several devices",
     "cudaMemcpy3DPeer cudaMemcpy3DPeerAsync"},
    {Refused::kCall, "no batches of copies", "cudaMemcpyBatchAsync cudaMemcpy3DBatchAsync"},
    {Refused::kType, "no driver API; use the runtime API (cuda...)",
     "CUdevice CUcontext CUdeviceptr CUmodule CUfunction CUstream CUevent CUresult "
     "CUlibrary CUkernel CUmemAllocationProp CUmemGenericAllocationHandle "
     "CUmemAccessDesc CUtensorMap"},
    {Refused::kCall, "no driver API; use the runtime API (cuda...)",
     "cuInit cuDriverGetVersion cuDeviceGet cuDeviceGetCount cuDeviceGetName "
     "cuDeviceGetAttribute cuDeviceTotalMem cuDevicePrimaryCtxRetain "
     "cuDevicePrimaryCtxRelease cuCtxCreate cuCtxDestroy cuCtxSetCurrent "
     "cuCtxGetCurrent cuCtxSynchronize cuModuleLoad cuModuleLoadData "
     "cuModuleLoadDataEx cuModuleUnload cuModuleGetFunction cuModuleGetGlobal "
     "cuLaunchKernel cuMemAlloc cuMemFree cuMemcpyHtoD cuMemcpyDtoH cuMemcpyDtoD "
     "cuMemsetD8 cuMemsetD32 cuMemGetInfo cuMemGetAllocationGranularity cuMemCreate "
     "cuMemAddressReserve cuMemMap cuMemSetAccess cuMemUnmap cuMemRelease "
     "cuMemAddressFree cuStreamCreate cuStreamSynchronize cuEventCreate cuEventRecord "
     "cuGetErrorName cuGetErrorString cuGetProcAddress cuTensorMapEncodeTiled "
     "cudaGetDriverEntryPoint cudaGetDriverEntryPointByVersion"},
    {Refused::kValue, "no driver API; use the runtime API (cuda...)", "CUDA_SUCCESS"},
    {Refused::kType, "no products of cuBLASLt, those of <cublas_v2.h> it has",
     "cublasLtMatmulDesc_t cublasLtMatrixLayout_t cublasLtMatmulPreference_t "
     "cublasLtMatmulAlgo_t cublasLtMatmulHeuristicResult_t"},
    {Refused::kCall, "no products of cuBLASLt, those of <cublas_v2.h> it has",
     "cublasLtMatmul cublasLtMatrixTransform"},
    {Refused::kCall, "cudaDeviceSynchronize in its place, as CUDA 13", "cudaThreadSynchronize"},
    {Refused::kCall, "cudaDeviceReset in its place, as CUDA 13", "cudaThreadExit"},
    {Refused::kCall, "one device, which has no peers", "cudaDeviceGetP2PAttribute"},
    {Refused::kValue, "one device, which has no peers",
     "cudaDevP2PAttrPerformanceRank cudaDevP2PAttrAccessSupported "
     "cudaDevP2PAttrNativeAtomicSupported cudaDevP2PAttrCudaArrayAccessSupported"},
    {Refused::kType, "no libraries of kernels that are loaded at run time", "cudaLibrary_t"},
    {Refused::kCall, "no libraries of kernels that are loaded at run time",
     "cudaLibraryLoadData cudaLibraryLoadFromFile cudaLibraryGetKernel "
     "cudaLibraryUnload cudaGetKernel"},
    {Refused::kType, "no green contexts", "cudaExecutionContext_t"},
    {Refused::kCall, "no green contexts", "cudaGreenCtxCreate"},
};

/// Headers of the toolkit. An #include becomes one line that says so, unless a file of that name
/// lies in the program's own folders.
struct RefusedHeader {
  const char* begins;  ///< of the header's name
  const char* what;
};

constexpr RefusedHeader kRefusedHeaders[] = {
    {"cudaGL.h", "graphics"},
    {"cuda_d3d", "graphics"},
    {"cuda_egl_interop.h", "graphics"},
    {"cuda_gl_interop.h", "graphics"},
    {"cuda_vdpau_interop.h", "graphics"},
    {"cuda_fp4.h", "4-bit floats"},
    {"cuda_fp6.h", "6-bit floats"},
    {"cuda_fp8.h", "8-bit floats; cuda_fp16.h and cuda_bf16.h are here"},
    {"cudnn", "cuDNN"},
    {"cufft", "cuFFT"},
    {"cuda/ptx", "PTX"},
    {"cupti", "CUPTI"},
    {"curand", "cuRAND; <random> fills an array on the host"},
    {"cusolver", "cuSOLVER"},
    {"cusparse", "cuSPARSE"},
    {"cutensor", "cuTENSOR"},
    {"npp", "NPP"},
    {"nccl.h", "NCCL"},
    {"nvJitLink.h", "nvJitLink"},
    {"nvjpeg.h", "nvJPEG"},
    {"nvml.h", "NVML; cudaGetDeviceProperties names the device"},
    {"nvrtc.h", "NVRTC"},
    {"nvshmem", "NVSHMEM"},
};

}  // namespace prepass
