// For compute_90. Two stages of rows: the next bulk copy is under way while a row is summed.
__device__ unsigned shared_at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void fetch(float *to, const float *from, int bytes, void *arrived) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_at(arrived)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(shared_at(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_at(arrived)) : "memory");
}
extern "C" __global__ void bulk_stages(const float *in, float *out, int rows) {
    __shared__ alignas(16) float row[2][256];
    __shared__ alignas(8) unsigned long long arrived[2];
    if (threadIdx.x == 0)
        for (int s = 0; s < 2; s++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_at(&arrived[s])));
    __syncthreads();
    const float *own = in + blockIdx.x * rows * 256;
    if (threadIdx.x == 0) fetch(row[0], own, 1024, &arrived[0]);
    float sum = 0;
    for (int r = 0; r < rows; r++) {
        int s = r & 1;
        if (threadIdx.x == 0 && r + 1 < rows) fetch(row[s ^ 1], own + (r + 1) * 256, 1024, &arrived[s ^ 1]);
        asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}"
                     ::"r"(shared_at(&arrived[s])), "r"(r >> 1 & 1) : "memory");
        sum += row[s][threadIdx.x];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
