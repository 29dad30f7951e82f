// SPDX-License-Identifier: MIT
// The names of CUDA that the CPU backend does not have: a use of one of these is one line from the
// compiler, at the program's own line. What needs an argument to be refused is refused where it is
// called.
#pragma once

namespace prepass {

/// The first lines of a file that uses one of the names make it a macro of runtime/refused.h.
struct Refused {
  enum Kind { kCall, kType, kValue, kAttribute, kKinds };
  const char* what;           ///< "the CPU backend has ..."
  const char* names[kKinds];  ///< with spaces between, or null; none that the program defines
};

constexpr Refused kRefused[] = {
    {"no clusters of blocks",
     {"this_cluster cudaOccupancyMaxActiveClusters cudaOccupancyMaxPotentialClusterSize", nullptr,
      nullptr, "__cluster_dims__"}},
    {"no memory of other processes (IPC)",
     {"cudaIpcGetMemHandle cudaIpcOpenMemHandle cudaIpcCloseMemHandle cudaIpcGetEventHandle "
      "cudaIpcOpenEventHandle cudaMemPoolExportToShareableHandle "
      "cudaMemPoolImportFromShareableHandle cudaMemPoolExportPointer cudaMemPoolImportPointer",
      "cudaIpcMemHandle_t cudaIpcEventHandle_t"}},
    {"no mipmapped arrays",
     {"cudaMallocMipmappedArray cudaFreeMipmappedArray cudaGetMipmappedArrayLevel tex2DLod "
      "tex1DLod tex3DLod tex2DGrad tex1DGrad tex3DGrad"}},
    {"no layered textures",
     {"tex1DLayered tex2DLayered surf1DLayeredread surf1DLayeredwrite surf2DLayeredread "
      "surf2DLayeredwrite"}},
    {"no cubemaps", {"texCubemap texCubemapLayered"}},
    {"no sparse arrays", {"cudaArrayGetSparseProperties cudaArrayGetPlane"}},
    {"no memory and semaphores of other APIs",
     {"cudaImportExternalMemory cudaImportExternalSemaphore cudaSignalExternalSemaphoresAsync "
      "cudaWaitExternalSemaphoresAsync cudaGraphAddExternalSemaphoresSignalNode "
      "cudaGraphAddExternalSemaphoresWaitNode",
      "cudaExternalMemory_t cudaExternalSemaphore_t"}},
    {"no graphics (OpenGL, Direct3D, Vulkan)",
     {"cudaGraphicsMapResources cudaGraphicsUnmapResources cudaGraphicsResourceGetMappedPointer "
      "cudaGraphicsUnregisterResource cudaGraphicsSubResourceGetMappedArray",
      "cudaGraphicsResource_t"}},
    {"no graphs that allocate or free",
     {"cudaGraphAddMemAllocNode cudaGraphAddMemFreeNode cudaDeviceGraphMemTrim "
      "cudaDeviceGetGraphMemAttribute cudaDeviceSetGraphMemAttribute"}},
    {"no cudaGraphNodeParams: use cudaGraphAddKernelNode and its like",
     {"cudaGraphAddNode cudaGraphNodeSetParams cudaGraphExecNodeSetParams", "cudaGraphNodeParams"}},
    {"no conditional nodes of graphs",
     {"cudaGraphConditionalHandleCreate cudaGraphSetConditional", "cudaGraphConditionalHandle"}},
    {"no launches of graphs by device code", {"cudaGetCurrentGraphExec"}},
    {"no other new parameters for copies than those of cudaGraphExecMemcpyNodeSetParams1D",
     {"cudaGraphMemcpyNodeSetParams cudaGraphMemcpyNodeGetParams cudaGraphExecMemcpyNodeSetParams "
      "cudaGraphMemcpyNodeSetParams1D "
      "cudaGraphMemcpyNodeSetParamsToSymbol cudaGraphMemcpyNodeSetParamsFromSymbol "
      "cudaGraphExecMemcpyNodeSetParamsToSymbol cudaGraphExecMemcpyNodeSetParamsFromSymbol"}},
    {"no new parameters of fills and host functions but by cudaGraphExecMemsetNodeSetParams and "
     "its like",
     {"cudaGraphMemsetNodeGetParams cudaGraphMemsetNodeSetParams cudaGraphHostNodeGetParams "
      "cudaGraphHostNodeSetParams"}},
    {"no copies of symbols as nodes of graphs: cudaGetSymbolAddress and cudaGraphAddMemcpyNode1D",
     {"cudaGraphAddMemcpyNodeToSymbol cudaGraphAddMemcpyNodeFromSymbol"}},
    {"no other events for nodes that record or wait for one: add the node anew",
     {"cudaGraphEventRecordNodeGetEvent cudaGraphEventRecordNodeSetEvent "
      "cudaGraphEventWaitNodeGetEvent cudaGraphEventWaitNodeSetEvent "
      "cudaGraphExecEventRecordNodeSetEvent cudaGraphExecEventWaitNodeSetEvent"}},
    {"no captures into a graph that there is, and none whose order a program changes: make a child "
     "graph of what was captured",
     {"cudaStreamBeginCaptureToGraph cudaStreamUpdateCaptureDependencies"}},
    {"no mode of capture for a thread: cudaStreamBeginCapture takes that of the capture",
     {"cudaThreadExchangeStreamCaptureMode"}},
    {"no nodes that are switched off", {"cudaGraphNodeSetEnabled cudaGraphNodeGetEnabled"}},
    {"no other child graph for a node: update the whole graph with cudaGraphExecUpdate",
     {"cudaGraphExecChildGraphNodeSetParams"}},
    {"no flags of graphs that are ready to run", {"cudaGraphExecGetFlags"}},
    {"no attributes of kernel nodes",
     {"cudaGraphKernelNodeSetAttribute cudaGraphKernelNodeGetAttribute "
      "cudaGraphKernelNodeCopyAttributes"}},
    {"no user objects of graphs",
     {"cudaUserObjectCreate cudaUserObjectRetain cudaUserObjectRelease cudaGraphRetainUserObject "
      "cudaGraphReleaseUserObject",
      "cudaUserObject_t"}},
    {"no copies between arrays of several devices",
     {"cudaMemcpy3DPeer cudaMemcpy3DPeerAsync", "cudaMemcpy3DPeerParms"}},
    {"no batches of copies", {"cudaMemcpyBatchAsync cudaMemcpy3DBatchAsync"}},
    {"only contexts, memory and streams of the driver API; use the runtime API (cuda...)",
     {"cuDriverGetVersion cuDeviceTotalMem cuDevicePrimaryCtxSetFlags cuCtxAttach cuCtxDetach "
      "cuCtxGetFlags cuCtxGetLimit cuCtxSetLimit cuCtxGetApiVersion cuCtxEnablePeerAccess "
      "cuCtxFromGreenCtx cuGreenCtxCreate cuGreenCtxDestroy cuModuleLoad "
      "cuModuleLoadData cuModuleLoadDataEx cuModuleUnload cuModuleGetFunction cuModuleGetGlobal "
      "cuLibraryLoadData cuLaunchKernel cuMemAllocAsync cuMemAllocHost cuMemcpyDtoD cuMemsetD8 "
      "cuMemsetD32 cuMemGetAllocationGranularity cuMemCreate cuMemAddressReserve "
      "cuMemMap cuMemSetAccess cuMemUnmap cuMemRelease cuMemAddressFree cuEventCreate "
      "cuEventRecord cuGetProcAddress cuTensorMapEncodeTiled cudaGetDriverEntryPoint "
      "cudaGetDriverEntryPointByVersion",
      "CUmodule CUfunction CUevent CUlibrary CUgreenCtx "
      "CUkernel CUmemAllocationProp CUmemGenericAllocationHandle CUmemAccessDesc"}},
    {"ranges and marks of NVTX only",
     {"nvtxRangePushW nvtxRangeStartW nvtxMarkW nvtxMarkEx nvtxNameOsThread nvtxNameOsThreadA "
      "nvtxNameCategory nvtxNameCategoryA nvtxNameCudaStreamA nvtxNameCudaEventA nvtxDomainCreate "
      "nvtxDomainCreateA nvtxDomainDestroy nvtxDomainRegisterStringA nvtxDomainRangePushEx "
      "nvtxDomainRangePop nvtxDomainRangeStartEx nvtxDomainRangeEnd nvtxDomainMarkEx",
      "nvtxDomainHandle_t nvtxStringHandle_t"}},
    {"cudaDeviceSynchronize in its place, as CUDA 13", {"cudaThreadSynchronize"}},
    {"cudaDeviceReset in its place, as CUDA 13", {"cudaThreadExit"}},
    {"no warp functions without a mask, as CUDA 13; use the one whose name ends in _sync",
     {"__shfl __shfl_up __shfl_down __shfl_xor __any __all __ballot"}},
    {"no choice of the banks' width, which is 4 bytes since Maxwell; leave the call out",
     {"cudaDeviceGetSharedMemConfig cudaDeviceSetSharedMemConfig cudaFuncSetSharedMemConfig",
      "cudaSharedMemConfig",
      "cudaSharedMemBankSizeDefault cudaSharedMemBankSizeFourByte "
      "cudaSharedMemBankSizeEightByte"}},
    {"no texture and surface references, as CUDA 13; use cudaCreateTextureObject or "
     "cudaCreateSurfaceObject",
     {"cudaBindTexture cudaBindTexture2D cudaBindTextureToArray cudaBindTextureToMipmappedArray "
      "cudaUnbindTexture cudaGetTextureReference cudaBindSurfaceToArray"}},
    {"no attributes of the link between two devices",
     {"cudaDeviceGetP2PAttribute", nullptr,
      "cudaDevP2PAttrPerformanceRank cudaDevP2PAttrAccessSupported "
      "cudaDevP2PAttrNativeAtomicSupported cudaDevP2PAttrCudaArrayAccessSupported"}},
    {"no libraries of kernels that are loaded at run time",
     {"cudaLibraryLoadData cudaLibraryLoadFromFile cudaLibraryGetKernel cudaLibraryUnload "
      "cudaGetKernel",
      "cudaLibrary_t"}},
    {"only communicators, collectives, sends and receives of NCCL",
     {"ncclMemAlloc ncclMemFree ncclCommInitRankConfig ncclCommInitRankScalable ncclCommSplit "
      "ncclCommShrink ncclCommRevoke ncclCommRegister ncclCommDeregister ncclCommWindowRegister "
      "ncclCommWindowDeregister ncclRedOpCreatePreMulSum ncclRedOpDestroy ncclAlltoAll ncclGather "
      "ncclScatter ncclGroupSimulateEnd ncclResetDebugInit",
      "ncclConfig_t ncclWindow_t ncclSimInfo_t ncclScalarResidence_t",
      "ncclFloat8e4m3 ncclFloat8e5m2 NCCL_CONFIG_INITIALIZER"}},
    {"no green contexts", {"cudaGreenCtxCreate", "cudaExecutionContext_t"}},
};

/// Members of cudaDeviceProp, of which names[0] is one each: refused where a file uses one of what
/// it declares as such. Anything else may be called so.
constexpr Refused kGoneMembers[] = {
    {"cudaDeviceGetAttribute with cudaDevAttrClockRate in its place, as CUDA 13", {"clockRate"}},
    {"cudaDeviceGetAttribute with cudaDevAttrMemoryClockRate in its place, as CUDA 13",
     {"memoryClockRate"}},
    {"cudaDeviceGetAttribute with cudaDevAttrComputeMode in its place, as CUDA 13",
     {"computeMode"}},
    {"cudaDeviceGetAttribute with cudaDevAttrGpuOverlap in its place, as CUDA 13",
     {"deviceOverlap"}},
    {"cudaDeviceGetAttribute with cudaDevAttrKernelExecTimeout in its place, as CUDA 13",
     {"kernelExecTimeoutEnabled"}},
    {"cudaDeviceGetAttribute with cudaDevAttrMaxTexture1DLinearWidth in its place, as CUDA 13",
     {"maxTexture1DLinear"}},
    {"cudaDeviceGetAttribute with cudaDevAttrSingleToDoublePrecisionPerfRatio in its place, as "
     "CUDA 13",
     {"singleToDoublePrecisionPerfRatio"}},
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
    {"cublas.h", "cuBLAS of before CUDA 4; <cublas_v2.h> is here"},
    {"cublasLt.h", "cuBLASLt; <cublas_v2.h> has products"},
    {"cublasXt.h", "cuBLASXt; <cublas_v2.h> has products"},
    {"cudnn", "cuDNN"},
    {"cufft", "cuFFT"},
    {"cuda/ptx", "PTX"},
    {"cupti", "CUPTI"},
    {"curand", "cuRAND; <random> fills an array on the host"},
    {"cusolver", "cuSOLVER"},
    {"cusparse", "cuSPARSE"},
    {"cutensor", "cuTENSOR"},
    {"npp", "NPP"},
    {"nvJitLink.h", "nvJitLink"},
    {"nvjpeg.h", "nvJPEG"},
    {"nvml.h", "NVML; cudaGetDeviceProperties names the device"},
    {"nvrtc.h", "NVRTC"},
    {"nvshmem", "NVSHMEM"},
};

}  // namespace prepass
