extern "C" __global__ void boundary_clamp(const float *in, float *out, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    int w = max(x - 1, 0), e = min(x + 1, nx - 1), s = max(y - 1, 0), n = min(y + 1, ny - 1);
    out[y * nx + x] = in[y * nx + w] + in[y * nx + e] + in[s * nx + x] + in[n * nx + x];
}
