// Data decide whether a second array is read, and how many iterations there are.
extern "C" __global__ void branch_data(const float *in, const float *table, float *out, int n, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i], sum = 0;
    if (v > 0.5f) sum = table[i] * v;
#pragma unroll 1
    for (int k = 0; k < most; k++) {
        float w = table[k * n + i];
        if (w < v) break;
        sum += w;
    }
    out[i] = sum;
}
