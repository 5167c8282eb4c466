#define R 4
extern "C" __global__ void stencil3d_radius4(const float *in, float *out, const float *c, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + R, y = blockIdx.y * blockDim.y + threadIdx.y + R;
    if (x >= nx - R || y >= ny - R) return;
    for (int z = R; z < nz - R; z++) {
        int i = (z * ny + y) * nx + x;
        float sum = c[0] * in[i];
        for (int r = 1; r <= R; r++)
            sum += c[r] * (in[i - r] + in[i + r] + in[i - r * nx] + in[i + r * nx] + in[i - r * nx * ny] + in[i + r * nx * ny]);
        out[i] = sum;
    }
}
