extern "C" __global__ void max_pool(const float *in, float *out, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx / 2 || y >= ny / 2) return;
    const float *p = in + 2 * y * nx + 2 * x;
    out[y * (nx / 2) + x] = fmaxf(fmaxf(p[0], p[1]), fmaxf(p[nx], p[nx + 1]));
}
