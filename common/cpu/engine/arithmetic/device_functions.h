// SPDX-License-Identifier: MIT
// The functions that CUDA C++ gives to device code without an include: integer and floating-point
// intrinsics, cached loads and stores, clocks, fences. Single-precision intrinsics that a GPU
// computes with fewer bits (__expf, __sinf) are computed in full here.
#pragma once

// The C names bring the overloads of the math functions into the global namespace, as under nvcc.
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <type_traits>

#include "../scheduling/yielding.h"
#include "../state/block.h"
#include "../state/current.h"
#include "../state/uninstrumented.h"
#include "rounding.h"

// The pre-pass writes these words around the declarations of arrays in device functions. The first
// tells X-ray of an array that may lie in a GPU's local memory. The others, where they can stand,
// make the array a part of a larger object, whose guards nobody may touch. Outside of X-ray's
// programs the words mean nothing.
#if defined(CUDA_CPU_XRAY)
#include "../state/hooks.h"
// `has_unknown_index`: an index into it is not known before the program runs, so it cannot be in
// registers.
#define CUDA_CPU_LOCAL_ARRAY(array, has_unknown_index, is_guarded)                 \
  {                                                                                \
    static const ::cuda_cpu::LocalArray cuda_cpu_local{                            \
        #array, has_unknown_index, is_guarded,                                     \
        sizeof(std::remove_extent_t<std::remove_reference_t<decltype(array)>>),    \
        ::cuda_cpu::Site{__builtin_FILE(), __builtin_LINE()}};                     \
    ::cuda_cpu::local_array_begins((void*)&array, sizeof(array), &cuda_cpu_local); \
  }
#define CUDA_CPU_GUARDED (&&
#define CUDA_CPU_GUARDED_END )
#define CUDA_CPU_GUARDS(...) = ::cuda_cpu::GuardedRoom<__VA_ARGS__>().value
#define CUDA_CPU_GUARDS_FROM(...)      \
  = ::cuda_cpu::Guarded<__VA_ARGS__> { \
    {},
#define CUDA_CPU_GUARDS_END \
  , {}                      \
  }                         \
  .value
#else
#define CUDA_CPU_LOCAL_ARRAY(array, has_unknown_index, is_guarded)
#define CUDA_CPU_GUARDED
#define CUDA_CPU_GUARDED_END
#define CUDA_CPU_GUARDS(...)
#define CUDA_CPU_GUARDS_FROM(...) =
#define CUDA_CPU_GUARDS_END
#endif

namespace cuda_cpu {

// ---- functions in device_functions.cpp ----

/// Nanoseconds of a clock that all workers share. PTX calls it %globaltimer.
std::uint64_t global_timer_ns();

/// Number of the worker that runs the calling CUDA thread. PTX calls it %smid.
unsigned sm_id();

/// `clock()` in device code. The pre-pass puts this name there, since on the host `clock` is the C
/// library's.
inline std::clock_t device_clock() { return static_cast<std::clock_t>(global_timer_ns()); }

/// `malloc` and `free` in device code. The heap has device_heap_bytes (cudaLimitMallocHeapSize);
/// null when that is used up. No call of the runtime copies from there or to it.
void* device_malloc(std::size_t bytes, Site site = here(), const char* call = "malloc");
void device_free(void* pointer, Site site = here(), const void* caller = nullptr);
extern std::atomic<std::size_t> device_heap_bytes;
bool is_on_device_heap(const void* address);

/// Ends the kernel with cudaErrorLaunchFailure, as a trap instruction does.
[[noreturn]] void trap(const char* file, int line);

/// Reports a block that __launch_bounds__ does not allow, and ends the kernel.
[[noreturn]] void exceed_launch_bounds(long long most, const char* file, int line);

/// What __launch_bounds__ says: at most so many threads in a block. The other bounds are about
/// speed.
struct LaunchBounds {
  long long most_threads;
  template <class... Others>
  constexpr LaunchBounds(long long most, Others...) : most_threads(most) {}
};

/// Emitted by the pre-pass where a kernel with bounds begins.
CUDA_CPU_UNINSTRUMENTED inline void keep_launch_bounds(const char* file, int line,
                                                       LaunchBounds bounds) {
  const Block* const block = current_block;
  if (block != nullptr && block->count > bounds.most_threads) {
    exceed_launch_bounds(bounds.most_threads, file, line);
  }
}

/// __threadfence() and its variants order memory, and let other threads run when a loop does
/// nothing else.
/// `block_only`: for the threads of one block.
inline void memory_fence([[maybe_unused]] bool block_only = false) {
#if defined(CUDA_CPU_XRAY)
  make_fence(block_only);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
  count_atomic();
}

/// Copies a value as bits. The sizes must agree.
template <class To, class From>
CUDA_CPU_UNSEEN inline To bit_copy(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

#if defined(CUDA_CPU_XRAY)
template <class T>
CUDA_CPU_UNINSTRUMENTED inline T untold_load(const T* address) {
  return *address;
}
#endif

/// Loads what memory holds now. The race detector sees an atomic load, and so no race with
/// atomics.
template <class T>
CUDA_CPU_TELLING T fresh_load(const T* address) {
#if defined(CUDA_CPU_XRAY)
  if constexpr (sizeof(T) <= 16) {
    fresh_load_begins(address, sizeof(T));
    return untold_load(address);
  }
#endif
  __asm__ __volatile__("" ::: "memory");
  return *address;
}

/// Float to integer as a GPU converts it: out of range gives the nearest end of the range, NaN
/// gives 0 (the 64-bit types: their most negative or largest value).
template <class Integer, class Float>
inline Integer to_integer(Float value) {
  using Limits = std::numeric_limits<Integer>;
  if (value != value) {
    if (sizeof(Integer) < 8) return 0;
    return std::is_signed<Integer>::value ? Limits::min() : Integer{1} << (Limits::digits - 1);
  }
  // Powers of two, so exact in any floating type.
  const Float beyond = ldexp(Float{1}, Limits::digits);
  if (value >= beyond) return Limits::max();
  if (value < (std::is_signed<Integer>::value ? -beyond : Float{0})) return Limits::min();
  return static_cast<Integer>(value);
}

}  // namespace cuda_cpu

// ---- integers ----

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}

inline unsigned long long __brevll(unsigned long long x) {
  x = ((x >> 1) & 0x5555555555555555ull) | ((x & 0x5555555555555555ull) << 1);
  x = ((x >> 2) & 0x3333333333333333ull) | ((x & 0x3333333333333333ull) << 2);
  x = ((x >> 4) & 0x0f0f0f0f0f0f0f0full) | ((x & 0x0f0f0f0f0f0f0f0full) << 4);
  return __builtin_bswap64(x);
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }

/// Four bytes chosen from the eight of y:x by the nibbles of s; a nibble's top bit spreads the
/// byte's sign.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  const std::uint64_t bytes = (static_cast<std::uint64_t>(y) << 32) | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned selector = (s >> (4 * i)) & 0xf;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (selector & 7))) & 0xff;
    if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/// Upper 32 bits of hi:lo shifted left, or lower 32 bits of it shifted right; _l and _r take the
/// shift modulo 32, _lc and _rc clamp it to 32.
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  shift &= 31;
  return shift == 0 ? hi : (hi << shift) | (lo >> (32 - shift));
}
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  shift &= 31;
  return shift == 0 ? lo : (lo >> shift) | (hi << (32 - shift));
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

/// Products of the lower 24 bits; upper halves of full products.
inline int __mul24(int x, int y) {
  const std::int64_t a = static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << 8) >> 8;
  const std::int64_t b = static_cast<std::int32_t>(static_cast<std::uint32_t>(y) << 8) >> 8;
  return static_cast<int>(static_cast<std::uint32_t>(a * b));
}
inline unsigned __umul24(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(x & 0xffffff) * (y & 0xffffff));
}
inline int __mulhi(int x, int y) {
  return static_cast<int>((static_cast<std::int64_t>(x) * y) >> 32);
}
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(x) * y) >> 32);
}
inline long long __mul64hi(long long x, long long y) {
  __extension__ typedef __int128 Wide;
  return static_cast<long long>((static_cast<Wide>(x) * y) >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<unsigned long long>((static_cast<Wide>(x) * y) >> 64);
}

/// |x - y| + z.
inline unsigned __sad(int x, int y, unsigned z) {
  const std::int64_t difference = static_cast<std::int64_t>(x) - y;
  return static_cast<unsigned>(difference < 0 ? -difference : difference) + z;
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x < y ? y - x : x - y) + z; }

/// Averages without overflow, rounded down or (r) up.
inline int __hadd(int x, int y) {
  return static_cast<int>((static_cast<std::int64_t>(x) + y) >> 1);
}
inline int __rhadd(int x, int y) {
  return static_cast<int>((static_cast<std::int64_t>(x) + y + 1) >> 1);
}
inline unsigned __uhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(x) + y) >> 1);
}
inline unsigned __urhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(x) + y + 1) >> 1);
}

/// Position of the offset-th set bit of `mask`, counted from bit `base`: upwards for offset > 0,
/// downwards for offset < 0; offset 0 asks for bit `base` itself. 0xffffffff when there is none.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return (mask >> (base & 31)) & 1 ? base : 0xffffffffu;
  const int step = offset > 0 ? 1 : -1;
  int left = offset > 0 ? offset : -offset;
  for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step) {
    if (((mask >> bit) & 1) != 0 && --left == 0) return static_cast<unsigned>(bit);
  }
  return 0xffffffffu;
}

/// Dot product of four packed bytes, plus c.
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) {
    c += static_cast<std::int8_t>(a >> i) * static_cast<std::int8_t>(b >> i);
  }
  return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += ((a >> i) & 0xff) * ((b >> i) & 0xff);
  return c;
}

// ---- floating point ----

inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return powf(10.0f, x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}

/// Clamped to [0, 1]; NaN gives 0.
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

inline float rsqrtf(float x) { return __frsqrt_rn(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }

/// sin(pi x), cos(pi x): exact at multiples of 1/2.
inline double sinpi(double x) {
  const double r = fmod(x, 2.0);  // exact; (-2, 2)
  if (r == trunc(r)) return copysign(0.0, x);
  if (r + r == trunc(r + r)) return (r == 0.5 || r == -1.5) ? 1.0 : -1.0;
  return sin(r * 3.14159265358979323846);
}
inline double cospi(double x) {
  const double r = fabs(fmod(x, 2.0));
  if (r + r == trunc(r + r)) return r == 0.0 ? 1.0 : r == 1.0 ? -1.0 : 0.0;
  return cos(r * 3.14159265358979323846);
}
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}

inline float norm3df(float x, float y, float z) {
  return static_cast<float>(
      sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y + static_cast<double>(z) * z));
}
inline double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }

#if defined(__APPLE__)  // other C libraries have these
inline float exp10f(float x) { return powf(10.0f, x); }
inline double exp10(double x) { return pow(10.0, x); }
inline void sincosf(float x, float* sine, float* cosine) { __sincosf(x, sine, cosine); }
inline void sincos(double x, double* sine, double* cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}
#endif

// ---- bits and conversions ----

inline int __float_as_int(float x) { return cuda_cpu::bit_copy<int>(x); }
inline unsigned __float_as_uint(float x) { return cuda_cpu::bit_copy<unsigned>(x); }
inline float __int_as_float(int x) { return cuda_cpu::bit_copy<float>(x); }
inline float __uint_as_float(unsigned x) { return cuda_cpu::bit_copy<float>(x); }
inline long long __double_as_longlong(double x) { return cuda_cpu::bit_copy<long long>(x); }
inline double __longlong_as_double(long long x) { return cuda_cpu::bit_copy<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int hi, int lo) {
  return __longlong_as_double(
      static_cast<long long>((static_cast<std::uint64_t>(static_cast<std::uint32_t>(hi)) << 32) |
                             static_cast<std::uint32_t>(lo)));
}

// Rounding: to nearest even, towards zero, up, down.
#define CUDA_CPU_TO_INTEGER(name, Float, Integer)                                           \
  inline Integer name##_rn(Float x) { return cuda_cpu::to_integer<Integer>(nearbyint(x)); } \
  inline Integer name##_rz(Float x) { return cuda_cpu::to_integer<Integer>(trunc(x)); }     \
  inline Integer name##_ru(Float x) { return cuda_cpu::to_integer<Integer>(ceil(x)); }      \
  inline Integer name##_rd(Float x) { return cuda_cpu::to_integer<Integer>(floor(x)); }

CUDA_CPU_TO_INTEGER(__float2int, float, int)
CUDA_CPU_TO_INTEGER(__float2uint, float, unsigned)
CUDA_CPU_TO_INTEGER(__float2ll, float, long long)
CUDA_CPU_TO_INTEGER(__float2ull, float, unsigned long long)
CUDA_CPU_TO_INTEGER(__double2int, double, int)
CUDA_CPU_TO_INTEGER(__double2uint, double, unsigned)
CUDA_CPU_TO_INTEGER(__double2ll, double, long long)
CUDA_CPU_TO_INTEGER(__double2ull, double, unsigned long long)

#undef CUDA_CPU_TO_INTEGER

inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }

// ---- minimum and maximum ----
// The overloads that nvcc has, mixed signedness compared as unsigned. A NaN loses against a number.

#define CUDA_CPU_MIN_MAX(Result, A, B)                                               \
  inline constexpr Result min(A a, B b) {                                            \
    return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(a)  \
                                                           : static_cast<Result>(b); \
  }                                                                                  \
  inline constexpr Result max(A a, B b) {                                            \
    return static_cast<Result>(a) > static_cast<Result>(b) ? static_cast<Result>(a)  \
                                                           : static_cast<Result>(b); \
  }

#define CUDA_CPU_MIN_MAX_PAIR(Signed, Unsigned)  \
  CUDA_CPU_MIN_MAX(Signed, Signed, Signed)       \
  CUDA_CPU_MIN_MAX(Unsigned, Unsigned, Unsigned) \
  CUDA_CPU_MIN_MAX(Unsigned, Signed, Unsigned)   \
  CUDA_CPU_MIN_MAX(Unsigned, Unsigned, Signed)

CUDA_CPU_MIN_MAX_PAIR(int, unsigned)
CUDA_CPU_MIN_MAX_PAIR(long, unsigned long)
CUDA_CPU_MIN_MAX_PAIR(long long, unsigned long long)

#undef CUDA_CPU_MIN_MAX_PAIR
#undef CUDA_CPU_MIN_MAX

inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(static_cast<double>(a), b); }
inline double max(float a, double b) { return fmax(static_cast<double>(a), b); }
inline double min(double a, float b) { return fmin(a, static_cast<double>(b)); }
inline double max(double a, float b) { return fmax(a, static_cast<double>(b)); }

inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

// ---- loads and stores with cache hints ----

/// Through the read-only path.
template <class T>
inline T __ldg(const T* address) {
#if defined(CUDA_CPU_XRAY)
  address = static_cast<const T*>(cuda_cpu::read_as_constant(address));
#endif
  return *address;
}

// Code uses the next two to read what other blocks write meanwhile, so the compiler must not reuse
// an older load.

/// Cached in L2 only.
template <class T>
CUDA_CPU_TELLING T __ldcg(const T* address) {
  return cuda_cpu::fresh_load(address);
}

/// Never cached.
template <class T>
CUDA_CPU_TELLING T __ldcv(const T* address) {
  cuda_cpu::count_atomic();  // a loop that polls with it must let the others go on
  return cuda_cpu::fresh_load(address);
}

// Hints that change nothing here.
#define CUDA_CPU_PLAIN_LOAD(name)   \
  template <class T>                \
  inline T name(const T* address) { \
    return *address;                \
  }

CUDA_CPU_PLAIN_LOAD(__ldca)  // cached everywhere
CUDA_CPU_PLAIN_LOAD(__ldcs)  // streaming
CUDA_CPU_PLAIN_LOAD(__ldlu)  // last use

#undef CUDA_CPU_PLAIN_LOAD

#define CUDA_CPU_PLAIN_STORE(name)        \
  template <class T>                      \
  inline void name(T* address, T value) { \
    *address = value;                     \
  }

CUDA_CPU_PLAIN_STORE(__stwb)  // written back by every level
CUDA_CPU_PLAIN_STORE(__stcg)  // cached in L2 only
CUDA_CPU_PLAIN_STORE(__stcs)  // streaming
CUDA_CPU_PLAIN_STORE(__stwt)  // written through to memory

#undef CUDA_CPU_PLAIN_STORE

// ---- time, fences, traps ----

inline long long clock64() { return static_cast<long long>(cuda_cpu::global_timer_ns()); }

// A kernel begins here when the one before it in the stream has ended, however it was launched, as
// it may on a GPU: so there is nothing to wait for, and nobody to tell but the race detector.
inline void cudaGridDependencySynchronize() {
#if defined(CUDA_CPU_XRAY)
  cuda_cpu::launch_before_is_waited_for();
#endif
}
inline void cudaTriggerProgrammaticLaunchCompletion() {
#if defined(CUDA_CPU_XRAY)
  cuda_cpu::next_launch_may_start();
#endif
}

/// A thread sleeps because it waits for another, so the other threads of the block run meanwhile.
inline void __nanosleep(unsigned) { cuda_cpu::yield(); }

inline void __threadfence_block() { cuda_cpu::memory_fence(true); }
inline void __threadfence() { cuda_cpu::memory_fence(); }
inline void __threadfence_system() { cuda_cpu::memory_fence(); }

[[noreturn]] inline void __trap(CUDA_CPU_HERE) { cuda_cpu::trap(file, line); }

/// `new T` in device code becomes `new (here()) T`: null where the heap is used up.
void* operator new(std::size_t bytes, cuda_cpu::Site site) noexcept;
void* operator new[](std::size_t bytes, cuda_cpu::Site site) noexcept;
