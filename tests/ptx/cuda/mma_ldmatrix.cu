#include <cuda_fp16.h>
// Rows of one matrix from shared memory by `ldmatrix`, the other from global memory as `mma` wants it.
extern "C" __global__ void mma_ldmatrix(const half *a, const half *b, float *c) {
    __shared__ __align__(16) half rows[64 * 72];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        *(uint4 *)(rows + (i >> 3) * 72 + (i & 7) * 8) = *(const uint4 *)(a + i * 8);
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(rows + (warp * 16 + (lane & 15)) * 72 + (lane >> 4) * 8);
    float d[4] = {0, 0, 0, 0};
    for (int k = 0; k < 4; k++) {
        unsigned r[4], low = *(const unsigned *)(b + (lane >> 2) * 64 + k * 16 + (lane & 3) * 2);
        unsigned high = *(const unsigned *)(b + (lane >> 2) * 64 + k * 16 + (lane & 3) * 2 + 8);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at + k * 32));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(low), "r"(high));
    }
    float *out = c + (warp * 16 + (lane >> 2)) * 8 + (lane & 3) * 2;
    out[0] = d[0], out[1] = d[1], out[64] = d[2], out[65] = d[3];
}
