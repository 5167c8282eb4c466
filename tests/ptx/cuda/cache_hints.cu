extern "C" __global__ void cache_hints(const float *a, const float *b, const float *c, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        __stcs(out + i, __ldcg(a + i) + __ldcs(b + i) + __ldg(c + i));
        __stcg(out + n + i, __ldcv(a + i));
    }
}
