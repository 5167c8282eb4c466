extern "C" __global__ void boundary_periodic(const float *in, float *out, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    int e = (x + 1) % nx, w = (x + nx - 1) % nx, n = y + 1 == ny ? 0 : y + 1, s = y == 0 ? ny - 1 : y - 1;
    out[y * nx + x] = in[y * nx + w] + in[y * nx + e] + in[s * nx + x] + in[n * nx + x];
}
