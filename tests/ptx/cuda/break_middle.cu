// Two ways out: one between the accesses, one at the end.
extern "C" __global__ void break_middle(const float *in, float *out, int n, int stride, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = 0;
#pragma unroll 1
    do {
        out[i] = in[i];
        __threadfence_block();
        if (i + stride >= n) break;
        out[i + stride] = in[i + stride] * 2;
        i += 2 * stride;
    } while (++k < most && i < n);
    out[n + threadIdx.x] = 1;
}
