extern "C" __global__ void short_planes(const short *in, short *out, short nx, short ny) {
    short x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < nx) out[x * ny + y] = in[y * nx + x];
}
