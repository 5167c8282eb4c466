__device__ unsigned spread(unsigned v) {
    v = (v | v << 8) & 0x00ff00ff;
    v = (v | v << 4) & 0x0f0f0f0f;
    v = (v | v << 2) & 0x33333333;
    return (v | v << 1) & 0x55555555;
}
extern "C" __global__ void morton(const float *in, float *out, int nx) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[spread(x) | spread(y) << 1] = in[y * nx + x];
}
