// Further experiments of the two papers, as tables for `wavecast cache-probe`. See README.md.
//
//   nvcc -O2 -o experiments experiments.cu
//   ./experiments mshr > mshr.csv      N 5.2: times of independent loads over warps and loads
//   ./experiments shared > shared.csv  S 6.1: shared-memory throughput over parallelism and warps
//   ./experiments banks > banks.csv    S 6.2: latency over the stride of bank conflicts
//   ./experiments memory > memory.csv  S 5.1: global-memory throughput over blocks and threads
//   ./experiments patterns > patterns.csv  S 5.2: global-memory latency over where data and addresses are found

// calibration/wavecast-nvcc compiles the kernels alone, to check them where there is no CUDA.
#ifndef __CUDACC_RTC__
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                              \
    do {                                                                                                         \
        cudaError_t error_ = (call);                                                                             \
        if (error_ != cudaSuccess) {                                                                             \
            fprintf(stderr, "experiments: %s: %s\n", #call, cudaGetErrorString(error_));                         \
            exit(1);                                                                                             \
        }                                                                                                        \
    } while (0)
#endif

// One thread of each warp loads LOADS lines of its own; nothing waits before all are issued.
template <int LOADS> __global__ void independent(const int *memory, int *result, long long *times, int warps) {
    if (threadIdx.x % 32 != 0) {
        return;
    }
    int warp = threadIdx.x / 32, got[LOADS], sum = 0;
    __syncwarp(1);
    long long from = clock64();
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        got[i] = *(const volatile int *)(memory + 32 * (warp + i * warps));
    }
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        sum += got[i];
    }
    *(volatile int *)(result + warp) = sum; // the clock waits for it
    times[warp] = clock64() - from;
}

// Each thread copies ILP words at a time from one half of shared memory to the other.
template <int ILP> __global__ void copy_shared(int *result, long long *times, int repeats) {
    __shared__ int from[6144], to[6144];
    for (int i = threadIdx.x; i < 6144; i += blockDim.x) {
        from[i] = i;
    }
    __syncthreads();
    long long start = clock64();
    for (int r = 0; r < repeats; r++) {
#pragma unroll
        for (int i = 0; i < ILP; i++) {
            int at = (threadIdx.x + i * blockDim.x) % 6144;
            to[at] = *(volatile int *)(from + at);
        }
    }
    __syncthreads();
    times[threadIdx.x] = clock64() - start;
    result[threadIdx.x] = to[threadIdx.x];
}

// A chase in shared memory in which the lanes of a warp are `stride` words apart.
__global__ void conflict(int stride, int *result, long long *times) {
    __shared__ int next[8192];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) {
        next[i] = i;
    }
    __syncthreads();
    int at = threadIdx.x * stride % 8192;
    long long start = clock64();
    for (int i = 0; i < 256; i++) {
        at = *(volatile int *)(next + at);
    }
    times[threadIdx.x] = clock64() - start;
    result[threadIdx.x] = at;
}

__global__ void copy(const float4 *from, float4 *to, size_t count) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        to[i] = from[i];
    }
}

// Each line of a list holds the number of the next; 32 words to a line.
__global__ void link(unsigned *memory, const unsigned *lines, unsigned count) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        memory[32 * (size_t)lines[i]] = lines[(i + 1) % count];
    }
}

constexpr unsigned TIMED = 2048;

// A chase along the list with a time for every load. Only WITH_L1 may the L1 answer.
template <bool WITH_L1>
__global__ void walk(const unsigned *memory, unsigned line, unsigned warm, unsigned loads, unsigned *cycles) {
    __shared__ unsigned took[TIMED];
    __shared__ volatile unsigned seen;
    for (unsigned i = 0; i < warm + loads; i++) {
        const unsigned *from = memory + 32 * (size_t)line;
        long long start = clock64();
        if (WITH_L1) {
            asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(line) : "l"(from) : "memory");
        } else {
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(line) : "l"(from) : "memory");
        }
        seen = line; // the clock waits for it
        unsigned time = (unsigned)(clock64() - start);
        if (i >= warm) {
            took[i - warm] = time;
        }
    }
    for (unsigned i = 0; i < loads; i++) {
        cycles[i] = took[i];
    }
}

#ifdef __CUDACC_RTC__
// Templates are compiled only where they are used.
template __global__ void independent<16>(const int *, int *, long long *, int);
template __global__ void copy_shared<4>(int *, long long *, int);
template __global__ void walk<true>(const unsigned *, unsigned, unsigned, unsigned, unsigned *);
template __global__ void walk<false>(const unsigned *, unsigned, unsigned, unsigned, unsigned *);
#endif

#ifndef __CUDACC_RTC__
template <int LOADS> static void mshr_row(int *memory, int *result, long long *times, size_t bytes) {
    for (int warps = 1; warps <= 24; warps++) {
        for (int again = 0; again < 9; again++) {
            long long host[32];
            CHECK(cudaMemset(memory, 0, bytes)); // throws out what the last run brought in
            independent<LOADS><<<1, warps * 32>>>(memory, result, times, warps);
            CHECK(cudaMemcpy(host, times, warps * sizeof *host, cudaMemcpyDeviceToHost));
            long long most = 0;
            for (int w = 0; w < warps; w++) {
                most = host[w] > most ? host[w] : most;
            }
            printf("%d,%d,%lld\n", warps, LOADS, most);
        }
    }
}

template <int LOADS> static void mshr_rows(int *memory, int *result, long long *times, size_t bytes) {
    if constexpr (LOADS > 1) {
        mshr_rows<LOADS - 1>(memory, result, times, bytes);
    }
    mshr_row<LOADS>(memory, result, times, bytes);
}

template <int ILP> static void shared_rows(int *result, long long *times) {
    const int repeats = 512;
    for (int warps = 1; warps <= 32; warps *= 2) {
        long long host[1024], most = 0;
        copy_shared<ILP><<<1, warps * 32>>>(result, times, repeats);
        CHECK(cudaMemcpy(host, times, warps * 32 * sizeof *host, cudaMemcpyDeviceToHost));
        for (int t = 0; t < warps * 32; t++) {
            most = host[t] > most ? host[t] : most;
        }
        // Read and written.
        printf("%d,%d,%.2f\n", ILP, warps, 2.0 * 4 * ILP * warps * 32 * repeats / (double)most);
    }
}

static void memory_rows() {
    const size_t bytes = 256u << 20;
    float4 *from, *to;
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMalloc(&to, bytes));
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    printf("blocks,threads,gb_per_s\n");
    for (int blocks = 64; blocks <= 8192; blocks *= 2) {
        for (int threads = 64; threads <= 1024; threads *= 2) {
            float best = 1e30f;
            for (int again = 0; again < 5; again++) {
                float ms = 0;
                CHECK(cudaEventRecord(start));
                copy<<<blocks, threads>>>(from, to, bytes / sizeof *from);
                CHECK(cudaEventRecord(end));
                CHECK(cudaEventSynchronize(end));
                CHECK(cudaEventElapsedTime(&ms, start, end));
                best = ms < best ? ms : best;
            }
            printf("%d,%d,%.1f\n", blocks, threads, 2.0 * bytes / best / 1e6);
        }
    }
}

// What a chase goes through. Pages are 2 MiB (S 4.4).
struct Pattern {
    const char *name;
    // A line of each of so many pages, one page after the other, then again.
    unsigned pages;
    // Whether each time around takes lines that no one has loaded, so that they come from memory.
    bool fresh;
    bool with_l1;
};

constexpr size_t PAGE = 2u << 20;
constexpr unsigned LINES = PAGE / 128;

// The middle of the latencies of a pattern. Chases through one page go from line to line within it.
static unsigned latency(const Pattern &p, unsigned *memory, unsigned *scratch, void *flush, size_t flush_bytes) {
    static unsigned lines[TIMED], cycles[TIMED];
    unsigned around = p.pages == 1 ? 32 : p.pages, count = p.fresh ? TIMED / around * around : around;
    for (unsigned i = 0; i < count; i++) {
        unsigned page = p.pages == 1 ? i / 512 : i % around, in_page = p.pages == 1 ? i % 512 : i / around;
        // 33 lines on, so that neighbours do not come along; another place in each page.
        lines[i] = page * LINES + (33 * in_page + (p.pages == 1 ? 0 : 5 * page)) % LINES;
    }
    unsigned *list = scratch, *times = scratch + TIMED;
    CHECK(cudaMemcpy(list, lines, count * sizeof *lines, cudaMemcpyHostToDevice));
    link<<<1, 256>>>(memory, list, count);
    if (p.fresh) {
        CHECK(cudaMemset(flush, 0, flush_bytes)); // throws out what linking brought in
    }
    unsigned warm = p.fresh ? 0 : 2 * around, loads = p.fresh ? count : TIMED / around * around;
    if (p.with_l1) {
        walk<true><<<1, 1>>>(memory, lines[0], warm, loads, times);
    } else {
        walk<false><<<1, 1>>>(memory, lines[0], warm, loads, times);
    }
    CHECK(cudaMemcpy(cycles, times, loads * sizeof *cycles, cudaMemcpyDeviceToHost));
    std::sort(cycles, cycles + loads);
    return cycles[loads / 2];
}

// S 5.2: data in the L1, the L2 or memory, under hits and misses of the two levels of address translation.
static void pattern_rows(unsigned some, unsigned many) {
    const size_t flush_bytes = 256u << 20;
    unsigned *memory, *scratch;
    void *flush;
    CHECK(cudaMalloc(&memory, PAGE * (many > 4 ? many : 4)));
    CHECK(cudaMalloc(&scratch, 2 * TIMED * sizeof *scratch));
    CHECK(cudaMalloc(&flush, flush_bytes));
    const Pattern all[] = {
        {"l1", 1, false, true},           {"l2", 1, false, false},           {"dram", 1, true, false},
        {"l2 tlb-l2", some, false, false}, {"l2 tlb-miss", many, false, false},
        {"dram tlb-l2", some, true, false}, {"dram tlb-miss", many, true, false},
    };
    printf("pattern,cycles\n");
    for (const Pattern &p : all) {
        printf("%s,%u\n", p.name, latency(p, memory, scratch, flush, flush_bytes));
    }
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    const size_t bytes = 1u << 20;
    int *memory, *result;
    long long *times;
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMalloc(&result, 1024 * sizeof *result));
    CHECK(cudaMalloc(&times, 1024 * sizeof *times));
    if (!strcmp(what, "mshr")) {
        printf("warps,loads,cycles\n");
        mshr_rows<16>(memory, result, times, bytes);
    } else if (!strcmp(what, "shared")) {
        printf("ilp,warps,bytes_per_cycle\n");
        shared_rows<1>(result, times);
        shared_rows<2>(result, times);
        shared_rows<4>(result, times);
    } else if (!strcmp(what, "banks")) {
        printf("stride,cycles_per_access\n");
        for (int stride = 1; stride <= 64; stride++) {
            long long host[32];
            conflict<<<1, 32>>>(stride, result, times);
            CHECK(cudaMemcpy(host, times, sizeof host, cudaMemcpyDeviceToHost));
            printf("%d,%.2f\n", stride, host[0] / 256.0);
        }
    } else if (!strcmp(what, "memory")) {
        memory_rows();
    } else if (!strcmp(what, "patterns")) {
        // Pages beyond the first level of address translation, and beyond the last.
        unsigned some = count > 2 ? strtoul(words[2], nullptr, 10) : 48;
        unsigned many = count > 3 ? strtoul(words[3], nullptr, 10) : 512;
        if (some < 2 || many < some || many > TIMED) {
            fprintf(stderr, "experiments: patterns needs numbers of pages from 2 to %u\n", TIMED);
            return 2;
        }
        pattern_rows(some, many);
    } else {
        fprintf(stderr, "usage: experiments mshr|shared|banks|memory|patterns [PAGES PAGES]\n");
        return 2;
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}
#endif
