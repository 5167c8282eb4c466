// One index for a volume, taken apart again.
extern "C" __global__ void unflatten(const float *in, float *out, int nx, int ny, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nx * ny * nz) return;
    int x = i % nx, y = i / nx % ny, z = i / (nx * ny);
    out[(x * ny + y) * nz + z] = in[i];
}
