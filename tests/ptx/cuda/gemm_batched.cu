extern "C" __global__ void gemm_batched(const float *a, const float *b, float *c, int m, int n, int k, long sa, long sb, long sc) {
    a += blockIdx.z * sa; b += blockIdx.z * sb; c += blockIdx.z * sc;
    int col = blockIdx.x * 8 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    __shared__ float as[8][8], bs[8][8];
    float sum = 0;
    for (int t = 0; t < (k + 7) / 8; t++) {
        as[threadIdx.y][threadIdx.x] = row < m && t * 8 + threadIdx.x < k ? a[row * k + t * 8 + threadIdx.x] : 0;
        bs[threadIdx.y][threadIdx.x] = col < n && t * 8 + threadIdx.y < k ? b[(t * 8 + threadIdx.y) * n + col] : 0;
        __syncthreads();
        for (int i = 0; i < 8; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}
