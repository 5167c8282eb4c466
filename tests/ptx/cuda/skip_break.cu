// A way out that only some threads come to.
extern "C" __global__ void skip_break(const float *in, float *out, int n, int most, int some) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < most; k++) {
        sum += in[k * n + i];
        if (threadIdx.x & 1) {
            if (k >= some) break;
        }
        sum += in[(k + most) * n + i];
    }
    out[i] = sum;
}
