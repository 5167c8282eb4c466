extern "C" __global__ void volume_copy(const float *in, float *out, int nx, int ny, int nz, int sx, int sy) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] = in[(z * sy + y) * sx + x];
}
