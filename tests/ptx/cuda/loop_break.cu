extern "C" __global__ void loop_break(const float *in, float *out, int n, int window) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < window; k++) {
        if (i + k >= n) break;
        sum += in[i + k];
    }
    if (i < n) out[i] = sum;
}
