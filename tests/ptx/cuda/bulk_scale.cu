// For compute_90. Tiles come and go by bulk copies, the last one shorter than the others.
__device__ unsigned shared_at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void bulk_scale(const float *in, float *out, float a, int n) {
    __shared__ alignas(16) float tile[512];
    __shared__ alignas(8) unsigned long long arrived;
    int first = blockIdx.x * 512, bytes = 4 * min(512, n - first);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_at(&arrived)));
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_at(&arrived)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::"r"(shared_at(tile)), "l"(__cvta_generic_to_global(in + first)), "r"(bytes), "r"(shared_at(&arrived)) : "memory");
    }
    asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@!done bra again;\n}" ::"r"(shared_at(&arrived)) : "memory");
    for (int i = threadIdx.x; i < 512 && first + i < n; i += blockDim.x) tile[i] *= a;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                     ::"l"(__cvta_generic_to_global(out + first)), "r"(shared_at(tile)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
