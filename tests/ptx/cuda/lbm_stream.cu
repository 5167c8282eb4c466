// Nine directions, each an array of its own in one allocation.
__constant__ int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
extern "C" __global__ void lbm_stream(const float *f, float *g, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y + 1;
    if (x >= nx - 1) return;
    const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    float rho = 0, v[9];
#pragma unroll
    for (int q = 0; q < 9; q++) rho += v[q] = f[(q * ny + y - dy[q]) * nx + x - dx[q]];
#pragma unroll
    for (int q = 0; q < 9; q++) g[(q * ny + y) * nx + x] = v[q] * 0.9f + rho * 0.1f / 9;
}
