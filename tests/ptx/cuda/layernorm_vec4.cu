extern "C" __global__ void layernorm_vec4(const float4 *in, const float4 *g, const float4 *b, float4 *out, int cols, float eps) {
    __shared__ float red[4];
    int n4 = cols / 4;
    const float4 *row = in + (long long)blockIdx.x * n4;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < n4; i += blockDim.x) { float4 v = row[i]; s += v.x + v.y + v.z + v.w; q += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w; }
    for (int o = 16; o; o >>= 1) { s += __shfl_xor_sync(~0u, s, o); q += __shfl_xor_sync(~0u, q, o); }
    if ((threadIdx.x & 31) == 0) red[threadIdx.x >> 5] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = threadIdx.x < blockDim.x / 32 ? red[threadIdx.x] : 0;
        for (int o = 2; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
        if (threadIdx.x == 0) red[0] = s;
    }
    __syncthreads();
    float m = red[0] / cols;
    for (int i = threadIdx.x; i < n4; i += blockDim.x) {
        float4 v = row[i], a = g[i], c = b[i];
        out[(long long)blockIdx.x * n4 + i] = {(v.x - m) * a.x + c.x, (v.y - m) * a.y + c.y, (v.z - m) * a.z + c.z, (v.w - m) * a.w + c.w};
    }
}
