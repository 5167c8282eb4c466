// The orders in which a chase goes through an array: the same as `wavecast cache-probe --simulate` uses.
#ifndef ORDER_H
#define ORDER_H

#include <stdint.h>
#include <stdlib.h>

// Splitmix64 (Steele, Lea and Flood, 2014).
static uint64_t order_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static void order_shuffle(uint32_t *all, uint32_t count, uint64_t *state) {
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = (uint32_t)(order_random(state) % i), t = all[i - 1];
        all[i - 1] = all[j];
        all[j] = t;
    }
}

enum order { ORDER_STRIDE, ORDER_SHUFFLED, ORDER_SCATTERED };

static const char *order_name(enum order order) {
    return order == ORDER_SHUFFLED ? "shuffled" : order == ORDER_SCATTERED ? "scattered" : "stride";
}

// Links an array of n elements; returns the loads of a round, and where it starts. A negative stride goes
// from the last element to the first. Shuffled: the first two elements of every stride (a line), all first
// ones and all second ones in an order of their own. Scattered: one element of every stride, at a random
// place in it that is another one with another n.
static uint32_t order_link(uint32_t *next, uint32_t n, int64_t stride, enum order kind, uint64_t seed,
                           uint32_t *start) {
    uint32_t step = (uint32_t)(stride < 0 ? -stride : stride), count = 0;
    if (step == 0 || n == 0) {
        return 0;
    }
    uint32_t firsts = (n - 1) / step + 1;
    uint32_t *order = (uint32_t *)malloc(2 * (size_t)firsts * sizeof *order);
    if (order == NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < firsts; i++) {
        order[count++] = stride < 0 ? n - 1 - i * step : i * step;
    }
    if (kind == ORDER_SCATTERED) {
        seed ^= (uint64_t)n << 20;
        for (uint32_t i = 0; i < firsts; i++) {
            uint32_t at = i * step, room = n - at < step ? n - at : step;
            order[stride < 0 ? firsts - 1 - i : i] = at + (uint32_t)(order_random(&seed) % room);
        }
    }
    if (kind == ORDER_SHUFFLED) {
        order_shuffle(order, count, &seed);
        uint32_t *second = order + count, more = 0;
        for (uint32_t i = 0; i < firsts; i++) {
            if (step > 1 && (uint64_t)i * step + 1 < n) {
                second[more++] = i * step + 1;
            }
        }
        order_shuffle(second, more, &seed);
        count += more;
    }
    for (uint32_t i = 0; i < count; i++) {
        next[order[i]] = order[(i + 1) % count];
    }
    *start = order[0];
    free(order);
    return count;
}

#endif
