// What a device file and the time model need to know of a GPU, as tables in CSV.
//
//   nvcc -O3 -arch=native probe.cu -o probe
//   ./probe device > device.csv        properties, and the clock under load
//   ./probe rates > rates.csv          operations of an SM in a cycle
//   ./probe launch > launch.csv        launches of a kernel that does nothing, and what many blocks of it cost
//   ./probe streams > streams.csv      streaming kernels over blocks on an SM and threads of a block
//   ./probe l2 > l2.csv                bandwidth of loads over the size of the data
//   ./probe chains > chains.csv        one load of a thread with so many dependent operations after it
//   ./probe pieces > pieces.csv        loads and stores of so many bytes, one every so many bytes of memory
//   ./probe code > code.csv            multiply-adds one after the other, with more and more of them in the code
//
// Latencies come from tracer/pchase. No setting of the card is changed. Times are medians of several runs.

#ifndef __CUDACC_RTC__
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                              \
    do {                                                                                                         \
        cudaError_t error_ = (call);                                                                             \
        if (error_ != cudaSuccess) {                                                                             \
            fprintf(stderr, "probe: %s: %s\n", #call, cudaGetErrorString(error_));                               \
            exit(1);                                                                                             \
        }                                                                                                        \
    } while (0)
#endif

__global__ void nothing() {}

// Cycles and nanoseconds of the same stretch of work.
__global__ void clocked(float *out, long long *cycles, long long *nanoseconds) {
    long long from, to;
    float x = threadIdx.x;
    const long long start = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
    for (int i = 0; i < 2000000; i++) {
        x = fmaf(x, 0.5f, 1.0f);
    }
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(to));
    const long long end = clock64();
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
    if (threadIdx.x == 0) {
        cycles[blockIdx.x] = end - start;
        nanoseconds[blockIdx.x] = to - from;
    }
}

struct AddF32 { typedef float T; static __device__ T op(T a, T b) { return fmaf(a, b, a); } };
struct AddF64 { typedef double T; static __device__ T op(T a, T b) { return fma(a, b, a); } };
struct AddInt { typedef int T; static __device__ T op(T a, T b) { return (a ^ b) + a; } };
struct MadInt { typedef int T; static __device__ T op(T a, T b) { return a * b + a; } };
struct Root { typedef float T; static __device__ T op(T a, T) { asm volatile("rsqrt.approx.f32 %0, %0;" : "+f"(a)); return a; } };
struct Convert { typedef float T; static __device__ T op(T a, T) { int i; asm volatile("cvt.rzi.s32.f32 %0, %1;" : "=r"(i) : "f"(a)); return __int_as_float(i); } };

// Eight independent chains in each thread, so that 32 warps fill every pipe.
template <class Op> __global__ void chained(typename Op::T *out, long long *cycles, int rounds) {
    typename Op::T x[8], y = (typename Op::T)(threadIdx.x + 3);
    for (int i = 0; i < 8; i++) {
        x[i] = (typename Op::T)(threadIdx.x + i);
    }
    __syncthreads();
    const long long start = clock64();
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int u = 0; u < 8; u++) {
#pragma unroll
            for (int i = 0; i < 8; i++) {
                x[i] = Op::op(x[i], y);
            }
        }
    }
    __syncthreads();
    const long long end = clock64();
    typename Op::T sum = 0;
    for (int i = 0; i < 8; i++) {
        sum += x[i];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    if (threadIdx.x == 0) {
        cycles[blockIdx.x] = end - start;
    }
}

enum Stream { INIT, READ, SCALE, TRIAD, STENCIL3, STENCIL5 };

// One element for each thread. Data never holds the number that would make it store.
template <int KIND, class T> __global__ void stream(T *a, const T *b, const T *c, const T *d) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x + 2;
    if (KIND == INIT) {
        a[i] = (T)0.25;
    } else if (KIND == READ) {
        const T x = b[i];
        if (x == (T)1.25) {
            a[i] = x;
        }
    } else if (KIND == SCALE) {
        a[i] = b[i] * (T)1.5;
    } else if (KIND == TRIAD) {
        a[i] = b[i] + c[i] * (T)1.5;
    } else if (KIND == STENCIL3) {
        a[i] = b[i - 1] + b[i] + b[i + 1];
    } else {
        a[i] = b[i - 2] + b[i - 1] + b[i] + b[i + 1] + b[i + 2];
    }
}

// Every thread reads its share of the data again and again, so that only the first time fills caches.
__global__ void reread(const double *data, size_t count, double *out, int times) {
    double sum = 0;
    for (int t = 0; t < times; t++) {
        size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
        // Other SMs' lines each time, so that the L1 does not answer.
        i = (i + (size_t)t * 7919 * blockDim.x) % count;
        for (size_t done = 0; done < count; done += (size_t)gridDim.x * blockDim.x) {
            double x;
            asm volatile("ld.global.cg.f64 %0, [%1];" : "=d"(x) : "l"(data + i));
            sum += x;
            i += (size_t)gridDim.x * blockDim.x;
            i = i >= count ? i - count : i;
        }
    }
    if (sum == 1.25) {
        *out = sum;
    }
}

// A load, so many operations that each need the one before, and a store.
template <int LENGTH> __global__ void chain(double *a, const double *b) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    float x = (float)b[i];
#pragma unroll
    for (int k = 0; k < LENGTH; k++) {
        x = fmaf(x, 0.5f, 1.0f);
    }
    a[i] = x;
}

#ifndef __CUDACC_RTC__
enum { LOAD, STORE, BOTH };

// A thread has a double of a piece: each is 2^shift of them, and so many from one piece to the next.
template <int MODE> __global__ void pieces(double *a, double *b, size_t count, int shift, size_t stride) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    const size_t at = (i >> shift) * stride + (i & ((1 << shift) - 1));
    if (MODE == LOAD) {
        const double x = a[at];
        if (x == 1.25) {
            b[0] = x;
        }
    } else if (MODE == STORE) {
        a[at] = i;
    } else {
        b[at] = a[at] + 1;
    }
}

// So many instructions in a row, which four chains keep busy.
template <int LENGTH> __global__ void straight(float *out, int rounds, float y, float z) {
    float x[4] = {y, z, y + z, y - z};
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int i = 0; i < LENGTH; i++) {
            x[i % 4] = fmaf(x[i % 4], y, z);
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x[0] + x[1] + x[2] + x[3];
}

static cudaEvent_t before, after;

// The median of the times in microseconds of `run`, each of one launch.
template <class Run> static double median(int runs, Run run) {
    std::vector<float> times;
    for (int i = -2; i < runs; i++) {
        float ms = 0;
        CHECK(cudaEventRecord(before));
        run();
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(after));
        CHECK(cudaEventSynchronize(after));
        CHECK(cudaEventElapsedTime(&ms, before, after));
        if (i >= 0) {
            times.push_back(ms);
        }
    }
    std::sort(times.begin(), times.end());
    return 1000.0 * times[times.size() / 2];
}

static int sms;

static int attribute(cudaDeviceAttr which) {
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

static long long largest(const long long *device, int count) {
    std::vector<long long> host(count);
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(long long), cudaMemcpyDeviceToHost));
    std::sort(host.begin(), host.end());
    return host[count / 2];
}

static void device_rows() {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("what,value\nname,%s\ncompute,%d.%d\n", p.name, p.major, p.minor);
    printf("sms,%d\nl2_bytes,%d\nmemory_bytes,%zu\n", sms, attribute(cudaDevAttrL2CacheSize), p.totalGlobalMem);
    printf("shared_per_sm,%zu\nshared_per_block,%zu\nshared_reserved,%zu\n", p.sharedMemPerMultiprocessor,
           p.sharedMemPerBlockOptin, p.reservedSharedMemPerBlock);
    printf("registers_per_sm,%d\nthreads_per_sm,%d\nblocks_per_sm,%d\n", p.regsPerMultiprocessor,
           p.maxThreadsPerMultiProcessor, p.maxBlocksPerMultiProcessor);
    printf("clock_attribute_mhz,%d\n", attribute(cudaDevAttrClockRate) / 1000);
    printf("memory_clock_mhz,%d\nbus_bits,%d\n", attribute(cudaDevAttrMemoryClockRate) / 1000,
           attribute(cudaDevAttrGlobalMemoryBusWidth));
    float *out;
    long long *cycles, *ns;
    CHECK(cudaMalloc(&out, 2048 * (size_t)sms * sizeof *out));
    CHECK(cudaMalloc(&cycles, sms * sizeof *cycles));
    CHECK(cudaMalloc(&ns, sms * sizeof *ns));
    for (int again = 0; again < 3; again++) {
        clocked<<<sms, 1024>>>(out, cycles, ns);
        CHECK(cudaDeviceSynchronize());
        printf("clock_under_fma_mhz,%.1f\n", 1000.0 * largest(cycles, sms) / largest(ns, sms));
    }
}

template <class Op> static void rate_row(const char *name) {
    typename Op::T *out;
    long long *cycles;
    const int rounds = 2000;
    CHECK(cudaMalloc(&out, 1024 * (size_t)sms * sizeof *out));
    CHECK(cudaMalloc(&cycles, sms * sizeof *cycles));
    for (int warps = 1; warps <= 32; warps *= 2) {
        for (int again = 0; again < 2; again++) {
            chained<Op><<<sms, warps * 32>>>(out, cycles, rounds);
        }
        CHECK(cudaDeviceSynchronize());
        printf("%s,%d,%.3f\n", name, warps, 64.0 * rounds * warps * 32 / largest(cycles, sms));
    }
    CHECK(cudaFree(out));
    CHECK(cudaFree(cycles));
}

static void rate_rows() {
    printf("operation,warps,per_cycle\n");
    rate_row<AddF32>("fma_f32");
    rate_row<AddF64>("fma_f64");
    rate_row<AddInt>("xor_add_int");
    rate_row<MadInt>("mad_int");
    rate_row<Root>("rsqrt_f32");
    rate_row<Convert>("cvt_s32_f32");
}

static void launch_rows() {
    printf("what,blocks,threads,us\n");
    for (int many : {1, 10, 100, 1000}) {
        const double us = median(9, [&] {
            for (int i = 0; i < many; i++) {
                nothing<<<1, 32>>>();
            }
        });
        printf("queued_%d,1,32,%.4f\n", many, us / many);
    }
    for (int threads : {32, 64, 128, 256, 512, 1024}) {
        for (int blocks = sms; blocks <= sms * 8192; blocks *= 4) {
            printf("empty,%d,%d,%.4f\n", blocks, threads, median(7, [&] { nothing<<<blocks, threads>>>(); }));
        }
    }
}

template <int KIND, class T> static void stream_row(const char *name, const char *type, T **m, size_t count) {
    CHECK(cudaFuncSetAttribute(stream<KIND, T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)));
    const int all = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor), reserved = 1024;
    for (int per_sm : {1, 2, 4, 8, 16, 32}) {
        for (int threads : {32, 64, 128, 256, 512, 1024}) {
            if (per_sm * threads > attribute(cudaDevAttrMaxThreadsPerMultiProcessor)) {
                continue;
            }
            // As much shared memory as keeps one block more out.
            const int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
            const int room = std::min(most, (all / per_sm - reserved) / 128 * 128);
            int found = 0;
            CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, stream<KIND, T>, threads, room));
            const double us = median(5, [&] {
                stream<KIND, T><<<count / threads, threads, room>>>(m[0], m[1], m[2], m[3]);
            });
            printf("%s,%s,%d,%d,%d,%zu,%d,%.3f\n", name, type, threads, found, room, count, sms, us);
        }
    }
}

template <class T> static void streams_of(const char *type, size_t count) {
    T *m[4];
    for (int i = 0; i < 4; i++) {
        CHECK(cudaMalloc(&m[i], (count + 4) * sizeof(T)));
        CHECK(cudaMemset(m[i], 0, (count + 4) * sizeof(T)));
    }
    stream_row<INIT, T>("init", type, m, count);
    stream_row<READ, T>("read", type, m, count);
    stream_row<SCALE, T>("scale", type, m, count);
    stream_row<TRIAD, T>("triad", type, m, count);
    stream_row<STENCIL3, T>("stencil3", type, m, count);
    stream_row<STENCIL5, T>("stencil5", type, m, count);
    for (int i = 0; i < 4; i++) {
        CHECK(cudaFree(m[i]));
    }
}

static void stream_rows() {
    printf("kernel,type,threads,blocks_per_sm,shared,elements,sms,us\n");
    streams_of<double>("f64", (size_t)1 << 27);
    streams_of<float>("f32", (size_t)1 << 28);
    // Small enough to stay in the L2.
    streams_of<double>("f64", (size_t)1 << 20);
}

static void l2_rows() {
    printf("bytes,threads,us,gb_per_s\n");
    const size_t most = (size_t)1 << 30;
    double *data, *out;
    CHECK(cudaMalloc(&data, most));
    CHECK(cudaMalloc(&out, 8));
    CHECK(cudaMemset(data, 0, most));
    for (size_t kib = 1024; kib <= most / 1024; kib = kib * 5 / 4 / 8 * 8) {
        const size_t count = kib * 128;
        const int times = std::max<size_t>(2, ((size_t)4 << 20) / kib);
        for (int blocks : {1, 2}) {
            const double us = median(3, [&] { reread<<<sms * blocks, 1024>>>(data, count, out, times); });
            printf("%zu,%d,%.2f,%.1f\n", count * 8, blocks * 1024, us, count * 8.0 * times / us / 1e3);
        }
    }
}

template <int LENGTH> static void chain_rows(double *a, double *b, size_t count) {
    for (int threads : {32, 64, 128, 256, 1024}) {
        printf("%d,%d,%.3f\n", LENGTH, threads, median(5, [&] { chain<LENGTH><<<count / threads, threads>>>(a, b); }));
    }
}

static void piece_rows() {
    const size_t room = (size_t)12 << 30;
    double *a, *b;
    CHECK(cudaMalloc(&a, room));
    CHECK(cudaMalloc(&b, room));
    CHECK(cudaMemset(a, 0, room));
    const char *names[] = {"load", "store", "both"};
    printf("mode,piece_bytes,stride_bytes,pieces,us\n");
    for (int mode = LOAD; mode <= BOTH; mode++) {
        for (int shift : {0, 2, 3, 4, 5, 6}) {
            const int piece = 8 << shift;
            for (int stride = std::max(64, piece); stride <= 8192; stride *= 2) {
                for (size_t most : {(size_t)64 << 20, (size_t)512 << 20}) {
                    const size_t number = std::min(room / stride, most / piece), count = number << shift;
                    const unsigned blocks = (count + 255) / 256;
                    const double us = median(7, [&] {
                        if (mode == LOAD) {
                            pieces<LOAD><<<blocks, 256>>>(a, b, count, shift, stride / 8);
                        } else if (mode == STORE) {
                            pieces<STORE><<<blocks, 256>>>(a, b, count, shift, stride / 8);
                        } else {
                            pieces<BOTH><<<blocks, 256>>>(a, b, count, shift, stride / 8);
                        }
                    });
                    printf("%s,%d,%d,%zu,%.3f\n", names[mode], piece, stride, number, us);
                }
            }
        }
    }
}

template <int LENGTH> static void code_rows(float *out) {
    for (int rounds : {1, 16}) {
        for (int threads : {32, 256, 1024}) {
            for (int waves : {1, 8}) {
                const double us = median(7, [&] { straight<LENGTH><<<sms * waves, threads>>>(out, rounds, 0.5f, 0.25f); });
                printf("%d,%d,%d,%d,%.3f\n", LENGTH, rounds, threads, waves, us);
            }
        }
    }
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    sms = attribute(cudaDevAttrMultiProcessorCount);
    if (!strcmp(what, "device")) {
        device_rows();
    } else if (!strcmp(what, "rates")) {
        rate_rows();
    } else if (!strcmp(what, "launch")) {
        launch_rows();
    } else if (!strcmp(what, "streams")) {
        stream_rows();
    } else if (!strcmp(what, "l2")) {
        l2_rows();
    } else if (!strcmp(what, "chains")) {
        const size_t elements = (size_t)1 << 26;
        double *a, *b;
        CHECK(cudaMalloc(&a, elements * 8));
        CHECK(cudaMalloc(&b, elements * 8));
        CHECK(cudaMemset(b, 0, elements * 8));
        printf("length,threads,us\n");
        chain_rows<0>(a, b, elements);
        chain_rows<64>(a, b, elements);
        chain_rows<128>(a, b, elements);
        chain_rows<256>(a, b, elements);
        chain_rows<512>(a, b, elements);
        chain_rows<1024>(a, b, elements);
    } else if (!strcmp(what, "pieces")) {
        piece_rows();
    } else if (!strcmp(what, "code")) {
        float *out;
        CHECK(cudaMalloc(&out, (size_t)1 << 26));
        printf("instructions,rounds,threads,waves,us\n");
        code_rows<512>(out);
        code_rows<1024>(out);
        code_rows<2048>(out);
        code_rows<3072>(out);
        code_rows<4096>(out);
        code_rows<6144>(out);
        code_rows<8192>(out);
        code_rows<12288>(out);
        code_rows<16384>(out);
        code_rows<32768>(out);
    } else {
        fprintf(stderr, "usage: probe device|rates|launch|streams|l2|chains|pieces|code\n");
        return 2;
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}
#endif
