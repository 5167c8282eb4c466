// A tile with its halo, which the first threads of each row and column load.
#define BX 16
#define BY 8
extern "C" __global__ void stencil_shared(const float *in, float *out, int nx, int ny) {
    __shared__ float s[BY + 2][BX + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = blockIdx.x * BX + tx, y = blockIdx.y * BY + ty;
    s[ty][tx] = in[y * nx + x];
    if (threadIdx.x == 0) s[ty][0] = in[y * nx + x - 1];
    if (threadIdx.x == BX - 1) s[ty][BX + 1] = in[y * nx + x + 1];
    if (threadIdx.y == 0) s[0][tx] = in[(y - 1) * nx + x];
    if (threadIdx.y == BY - 1) s[BY + 1][tx] = in[(y + 1) * nx + x];
    __syncthreads();
    out[y * nx + x] = s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx];
}
