// Both ends of the range with one comparison, which wraps below zero.
extern "C" __global__ void unsigned_guard(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int d = -2; d <= 2; d++)
        if ((unsigned)(i + d) < (unsigned)n) sum += in[i + d];
    if (i < n) out[i] = sum;
}
