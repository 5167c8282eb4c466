// Further experiments of the two papers, as tables for `wavecast cache-probe`. See README.md.
//
//   nvcc -O2 -o experiments experiments.cu
//   ./experiments mshr > mshr.csv      N 5.2: times of independent loads over warps and loads
//   ./experiments shared > shared.csv  S 6.1: shared-memory throughput over parallelism and warps
//   ./experiments banks > banks.csv    S 6.2: latency over the stride of bank conflicts
//   ./experiments memory > memory.csv  S 5.1: global-memory throughput over blocks and threads

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
    result[warp] = sum;
    times[warp] = clock64() - from;
}

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
    } else {
        fprintf(stderr, "usage: experiments mshr|shared|banks|memory\n");
        return 2;
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}
