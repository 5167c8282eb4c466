// A pointer chase: every load says where the next one goes. One work item runs it.
//
// OpenCL has no clock for kernels of its own. CLOCK is set by the host where a device has one:
//   1  the extension cl_khr_kernel_clock
//   2  NVIDIA's register, through PTX
//   0  none: times are 0, and the host times whole chases instead.

#if CLOCK == 1
#pragma OPENCL EXTENSION cl_khr_kernel_clock : enable
#define NOW() ((uint)clock_read_device())
#elif CLOCK == 2
inline uint now(void) {
    uint t;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(t) : : "memory");
    return t;
}
#define NOW() now()
#else
#define NOW() 0u
#endif

// Times in local memory do not disturb the cache that is looked at.
#ifndef KEPT
#define KEPT 1024
#endif

kernel void chase(global const uint *next, uint start, uint warm, uint loads, global uint *index,
                  global uint *cycles) {
    local uint seen[KEPT];
    local uint took[KEPT];
    uint at = start;
    for (uint i = 0; i < warm; i++) {
        at = next[at];
    }
    uint done = 0;
    while (done < loads) {
        uint part = min(loads - done, (uint)KEPT);
        for (uint i = 0; i < part; i++) {
            uint from = NOW();
            uint to = next[at];
            seen[i] = at; // stores of `to` would let the clock be read before the load is back
            at = to;
            took[i] = (at == 0xffffffffu) ? 0u : NOW() - from;
        }
        for (uint i = 0; i < part; i++) {
            index[done + i] = seen[i];
            cycles[done + i] = took[i];
        }
        done += part;
    }
}

// The same without looking at each load: for latency over size, timed from outside.
kernel void run(global const uint *next, uint start, uint loads, global uint *last) {
    uint at = start;
    for (uint i = 0; i < loads; i++) {
        at = next[at];
    }
    *last = at;
}
