extern "C" __global__ void warp_sum(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] : 0;
    for (int s = 16; s > 0; s >>= 1) v += __shfl_down_sync(0xffffffff, v, s);
    if ((threadIdx.x & 31) == 0) out[i >> 5] = v;
}
