// The processor plays the GPU: what emitted programs need of CUDA, so that their host part can be compiled
// without CUDA, and the whole program run. Threads of a block are coroutines that meet at barriers. The test
// that builds a program says how many arrays it has (PLAYED_ARRAYS) and what its sums are (PLAYED_REAL).
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

#define __global__
#define __device__
#define __constant__ static const
#define __shared__
#define __align__(n) __attribute__((aligned(n)))
#define CUDART_VERSION 12000
#define HIP_VERSION 6000

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct int2 { int x, y; };
struct int4 { int x, y, z, w; };
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct double2 { double x, y; };

static dim3 threadIdx, blockIdx, blockDim, gridDim;
unsigned char shared[1 << 17] __attribute__((aligned(16)));

static inline unsigned atomicAdd(unsigned *to, unsigned value) { return (*to += value) - value; }
static inline unsigned long long atomicAdd(unsigned long long *to, unsigned long long value) {
    return (*to += value) - value;
}

// An index of a test's choice is shifted: MUTANT(n) is PLAYED_SHIFT where PLAYED_MUTANT is n.
static inline int mutant(int number) {
    static const char *chosen = getenv("PLAYED_MUTANT"), *shift = getenv("PLAYED_SHIFT");
    return chosen && atoi(chosen) == number ? atoi(shift) : 0;
}

typedef int cudaError_t;
typedef int cudaEvent_t;
struct cudaFuncAttributes { int numRegs; };
struct cudaDeviceProp { char name[32]; };
enum { cudaSuccess, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaFuncAttributeMaxDynamicSharedMemorySize };
enum { cudaDevAttrL2CacheSize, cudaDevAttrClockRate };

static inline const char *cudaGetErrorString(cudaError_t) { return "an error"; }
static inline cudaError_t cudaGetLastError() { return 0; }
static inline cudaError_t cudaSetDevice(int) { return 0; }
static inline cudaError_t cudaEventCreate(cudaEvent_t *) { return 0; }
static inline cudaError_t cudaEventRecord(cudaEvent_t, int) { return 0; }
static inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return 0; }
static inline cudaError_t cudaDeviceSynchronize() { return 0; }
static inline cudaError_t cudaEventElapsedTime(float *to, cudaEvent_t, cudaEvent_t) { return *to = 1, 0; }
static inline cudaError_t cudaDeviceGetAttribute(int *to, int, int) { return *to = 1 << 20, 0; }
static inline cudaError_t cudaDriverGetVersion(int *to) { return *to = 1, 0; }
static inline cudaError_t cudaRuntimeGetVersion(int *to) { return *to = 1, 0; }
static inline cudaError_t cudaFuncSetAttribute(const void *, int, int) { return 0; }
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *to, const void *) { return to->numRegs = 9, 0; }
static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *to, int) { return strcpy(to->name, "played"), 0; }
static inline cudaError_t cudaMemset(void *to, int value, size_t bytes) { return memset(to, value, bytes), 0; }
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int) { return memcpy(to, from, bytes), 0; }
// Around each array there is room, so that an index that is wrong by little crashes nothing.
static inline cudaError_t cudaMalloc(void **to, size_t bytes) {
    const size_t room = 1 << 16;
    char *memory = (char *)malloc(bytes + 2 * room);
    memset(memory, 7, bytes + 2 * room);
    *to = memory + room;
    return 0;
}

#define FOUR(n) pointer(n), pointer(n + 1), pointer(n + 2), pointer(n + 3)
#define SIXTEEN(n) FOUR(n), FOUR(n + 4), FOUR(n + 8), FOUR(n + 12)
#define SIXTY_FOUR(n) SIXTEEN(n), SIXTEEN(n + 16), SIXTEEN(n + 32), SIXTEEN(n + 48)

namespace played {
static const void *function;
static void **arguments;
static ucontext_t scheduler, *running;

static void *pointer(int n) {
    if (n < PLAYED_ARRAYS)
        return *(void **)arguments[n];
    return n == PLAYED_ARRAYS ? *(void **)arguments[n + 1] : nullptr;
}

// Pointers and numbers go separate ways to a function, and pointers that it does not have harm nothing.
template <typename... P> static void call(P... pointers) {
    ((void (*)(P..., PLAYED_REAL))function)(pointers..., *(PLAYED_REAL *)arguments[PLAYED_ARRAYS]);
}

static void thread() { call(SIXTY_FOUR(0), SIXTY_FOUR(64)); }

static void block(unsigned threads) {
    static ucontext_t contexts[1024];
    static char *stacks[1024];
    static bool ended[1024];
    const size_t bytes = 1 << 16;
    for (unsigned t = 0; t < threads; t++) {
        if (!stacks[t])
            stacks[t] = (char *)malloc(bytes);
        getcontext(&contexts[t]);
        contexts[t].uc_stack.ss_sp = stacks[t];
        contexts[t].uc_stack.ss_size = bytes;
        contexts[t].uc_link = nullptr;
        ended[t] = false;
        makecontext(&contexts[t], [] { thread(); ended[running - contexts] = true; swapcontext(running, &scheduler); }, 0);
    }
    for (unsigned left = threads; left > 0;) {
        for (unsigned t = 0; t < threads; t++) {
            if (ended[t])
                continue;
            threadIdx = dim3(t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y);
            running = &contexts[t];
            swapcontext(&scheduler, running);
            left -= ended[t];
        }
    }
}
}

static inline void __syncthreads() { swapcontext(played::running, &played::scheduler); }

static inline cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 size, void **arguments, size_t, int) {
    played::function = function;
    played::arguments = arguments;
    gridDim = grid;
    blockDim = size;
    for (unsigned b = 0; b < grid.x * grid.y * grid.z; b++) {
        blockIdx = dim3(b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y);
        played::block(size.x * size.y * size.z);
    }
    return 0;
}
