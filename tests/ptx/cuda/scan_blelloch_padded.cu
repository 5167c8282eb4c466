#define PAD(n) ((n) >> 5)
extern "C" __global__ void scan_blelloch_padded(float *out, const float *in, int n) {
    extern __shared__ float temp[];
    int t = threadIdx.x, offset = 1;
    in += blockIdx.x * n; out += blockIdx.x * n;
    int ai = t, bi = t + n / 2;
    temp[ai + PAD(ai)] = in[ai]; temp[bi + PAD(bi)] = in[bi];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) { int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1; a += PAD(a); b += PAD(b); temp[b] += temp[a]; }
        offset *= 2;
    }
    if (t == 0) temp[n - 1 + PAD(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) { int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1; a += PAD(a); b += PAD(b); float v = temp[a]; temp[a] = temp[b]; temp[b] += v; }
    }
    __syncthreads();
    out[ai] = temp[ai + PAD(ai)]; out[bi] = temp[bi + PAD(bi)];
}
