// Along z with the planes above and below in registers.
extern "C" __global__ void stencil_march(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, p = nx * ny, i = y * nx + x;
    if (x == 0 || y == 0 || x >= nx - 1 || y >= ny - 1) return;
    float below = in[i], here = in[i + p];
    for (int z = 1; z < nz - 1; z++) {
        i += p;
        float above = in[i + p];
        out[i] = below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] - 6 * here;
        below = here;
        here = above;
    }
}
