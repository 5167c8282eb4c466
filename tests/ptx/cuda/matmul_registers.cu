// Each thread has 4 by 4 results.
extern "C" __global__ void matmul_registers(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n) {
    __shared__ float a[16][64], b[16][64];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        for (int i = t; i < 1024; i += 256) {
            a[i & 15][i >> 4] = A[(blockIdx.y * 64 + (i >> 4)) * n + k0 + (i & 15)];
            b[i >> 6][i & 63] = B[(k0 + (i >> 6)) * n + blockIdx.x * 64 + (i & 63)];
        }
        __syncthreads();
        for (int k = 0; k < 16; k++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sum[i][j] += a[k][ty * 4 + i] * b[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) C[(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx + 16 * j] = sum[i][j];
}
