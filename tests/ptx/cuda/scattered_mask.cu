extern "C" __global__ void scattered_mask(const float *in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = in[i & 0x55555555u] + in[(i & 0xaaaaaaaau) >> 1] + in[__brev(i & 0xff) >> 24];
}
