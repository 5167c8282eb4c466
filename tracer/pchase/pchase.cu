// A pointer chase with a time for every load (Mei and Chu's fine-grained chase; Nugteren's figure 5 with
// --evict). Writes logs for `wavecast cache-probe`. See README.md.
//
//   nvcc -O2 -o pchase pchase.cu            (L1: -Xptxas -dlcm=ca, L2: -Xptxas -dlcm=cg)
//   ./pchase --n 3080 --stride 8 > log.csv

// calibration/wavecast-nvcc compiles the kernels alone, to check them where there is no CUDA.
#ifdef __CUDACC_RTC__
using uint32_t = unsigned int;
#else
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "order.h"

#define CHECK(call)                                                                                              \
    do {                                                                                                         \
        cudaError_t error_ = (call);                                                                             \
        if (error_ != cudaSuccess) {                                                                             \
            fprintf(stderr, "pchase: %s: %s\n", #call, cudaGetErrorString(error_));                              \
            exit(1);                                                                                             \
        }                                                                                                        \
    } while (0)
#endif

// Times lie in shared memory, so that they do not disturb the cache.
constexpr uint32_t KEPT = 4096;

// One load: READ_ONLY takes the way of the read-only (texture) cache.
__device__ __forceinline__ uint32_t load(const uint32_t *p) {
#ifdef READ_ONLY
    return __ldg(p);
#else
    return *(const volatile uint32_t *)p;
#endif
}

__global__ void chase(const uint32_t *next, uint32_t start, uint32_t warm, uint32_t loads, uint32_t *index,
                      uint32_t *cycles) {
    // Volatile: the clock is read after the store, which waits for the load.
    __shared__ volatile uint32_t seen[KEPT];
    __shared__ uint32_t took[KEPT];
    uint32_t at = start;
    for (uint32_t i = 0; i < warm; i++) {
        at = load(next + at);
    }
    for (uint32_t done = 0; done < loads; done += KEPT) {
        uint32_t part = min(loads - done, KEPT);
        for (uint32_t i = 0; i < part; i++) {
            uint32_t from = clock();
            uint32_t to = load(next + at);
            seen[i] = to;
            took[i] = clock() - from;
            at = to;
        }
        for (uint32_t i = 0; i < part; i++) {
            index[done + i] = seen[i]; // of the next load: the host shifts them
            cycles[done + i] = took[i];
        }
    }
}

// N 5.1: the array, then one element beside it, then the array again with times.
__global__ void evict(const uint32_t *next, uint32_t start, uint32_t round, uint32_t extra, uint32_t *index,
                      uint32_t *cycles) {
    __shared__ volatile uint32_t seen;
    uint32_t at = start;
    for (uint32_t i = 0; i < 2 * round; i++) {
        at = load(next + at);
    }
    // The chase must wait for it: its value is start, as all of memory beside the array.
    at = load(next + extra) + at - start;
    for (uint32_t i = 0; i < round; i++) {
        uint32_t from = clock();
        uint32_t to = load(next + at);
        seen = to; // the clock waits for it
        cycles[i] = clock() - from;
        index[i] = at;
        at = to;
    }
}

#ifndef __CUDACC_RTC__
int main(int count, char **words) {
    uint32_t n = 4096, rounds = 10, most_bit = 0;
    int64_t stride = 1;
    int cold = 0;
    enum order order = ORDER_STRIDE;
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : "";
        if (!strcmp(words[i], "--cold")) {
            cold = 1;
        } else if (!strcmp(words[i], "--shuffled")) {
            order = ORDER_SHUFFLED;
        } else if (!strcmp(words[i], "--scattered")) {
            order = ORDER_SCATTERED;
        } else if (!strcmp(words[i], "--n")) {
            n = strtoul(value, nullptr, 10), i++;
        } else if (!strcmp(words[i], "--stride")) {
            stride = strtoll(value, nullptr, 10), i++;
        } else if (!strcmp(words[i], "--rounds")) {
            rounds = strtoul(value, nullptr, 10), i++;
        } else if (!strcmp(words[i], "--evict")) {
            most_bit = strtoul(value, nullptr, 10), i++;
        } else {
            fprintf(stderr, "usage: pchase [--n ELEMENTS] [--stride ELEMENTS] [--rounds N] [--cold]\n"
                            "              [--shuffled | --scattered]\n"
                            "              [--evict BIT: elements beside the array up to 2^BIT]\n");
            return 2;
        }
    }
    rounds = cold ? 1 : rounds;
    uint64_t bytes = (uint64_t)n * 4, all = most_bit ? (uint64_t)4 << most_bit : 0;
    all = all > bytes ? all + 4096 : bytes;
    uint32_t *host = (uint32_t *)malloc(all), start = 0;
    uint32_t round = host ? order_link(host, n, stride, order, 1, &start) : 0;
    if (round == 0) {
        fprintf(stderr, "pchase: no array of %u elements with stride %lld\n", n, (long long)stride);
        return 2;
    }
    for (uint64_t i = n; i < all / 4; i++) {
        host[i] = start;
    }
    uint32_t loads = round * rounds, *next, *index, *cycles;
    CHECK(cudaMalloc(&next, all));
    CHECK(cudaMalloc(&index, (uint64_t)loads * 4));
    CHECK(cudaMalloc(&cycles, (uint64_t)loads * 4));
    CHECK(cudaMemcpy(next, host, all, cudaMemcpyHostToDevice));
    uint32_t *seen = (uint32_t *)malloc((uint64_t)loads * 4), *took = (uint32_t *)malloc((uint64_t)loads * 4);
    if (!seen || !took) {
        return 1;
    }
    auto fetch = [&](uint32_t many) {
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(seen, index, (uint64_t)many * 4, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(took, cycles, (uint64_t)many * 4, cudaMemcpyDeviceToHost));
    };
    if (most_bit == 0) {
        chase<<<1, 1>>>(next, start, cold ? 0 : 2 * round, loads, index, cycles);
        fetch(loads);
        printf("# run n=%u s=%lld element=4 cold=%d order=%s\n", n, (long long)stride, cold,
               order_name(order));
        for (uint32_t i = 0; i < loads; i++) {
            printf("%u,%u\n", i == 0 ? start : seen[i - 1], took[i]);
        }
        return 0;
    }
    for (uint64_t extra = 1; extra <= (1ull << most_bit); extra *= 2) {
        if (extra < n) {
            continue;
        }
        printf("# run n=%u s=%lld element=4 cold=0 order=evict extra=%llu\n", n, (long long)stride,
               (unsigned long long)extra);
        for (uint32_t r = 0; r < rounds; r++) {
            evict<<<1, 1>>>(next, start, round, (uint32_t)extra, index, cycles);
            fetch(round);
            for (uint32_t i = 0; i < round; i++) {
                printf("%u,%u\n", seen[i], took[i]);
            }
        }
    }
    return 0;
}
#endif
