extern "C" __global__ void unrolled(const float *in, float *out, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < m; k++) sum += in[k * n + i];
#pragma unroll 1
    for (int k = 0; k < m; k++) sum *= in[k * n + i];
    out[i] = sum;
}
