// Addresses are known; whether it stores depends on what it loaded.
extern "C" __global__ void data_guard(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0.5f) out[i] = in[i] * 3;
}
