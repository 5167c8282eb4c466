extern "C" __global__ void coarse_strided(const float *in, float *out, int n) {
    int base = blockIdx.x * blockDim.x * 4 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = base + k * blockDim.x;
        if (i < n) out[i] = in[i] * 2;
    }
}
