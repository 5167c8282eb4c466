extern "C" __global__ void stencil3d7(const double *__restrict__ in, double *__restrict__ out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    long i = (long)(z * ny + y) * nx + x, p = (long)nx * ny;
    out[i] = in[i - p] + in[i - nx] + in[i - 1] - 6 * in[i] + in[i + 1] + in[i + nx] + in[i + p];
}
