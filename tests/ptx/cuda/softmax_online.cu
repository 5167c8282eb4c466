extern "C" __global__ void softmax_online(const float *in, float *out, int rows, int cols) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const float *p = in + row * cols;
    float m = -3e38f, s = 0;
    for (int i = threadIdx.x; i < cols; i += 32) { float v = p[i], k = fmaxf(m, v); s = s * __expf(m - k) + __expf(v - k); m = k; }
    for (int o = 16; o > 0; o /= 2) { float m2 = __shfl_xor_sync(~0u, m, o), s2 = __shfl_xor_sync(~0u, s, o), k = fmaxf(m, m2); s = s * __expf(m - k) + s2 * __expf(m2 - k); m = k; }
    for (int i = threadIdx.x; i < cols; i += 32) out[row * cols + i] = __expf(p[i] - m) / s;
}
