extern "C" __global__ void gaussian_fan2(const float *m, float *a, float *b, int size, int j1, int t) {
    if (threadIdx.x + blockIdx.x * blockDim.x >= size - 1 - t) return;
    if (threadIdx.y + blockIdx.y * blockDim.y >= size - t) return;
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    a[size * (x + 1 + t) + (y + t)] -= m[size * (x + 1 + t) + t] * a[size * t + (y + t)];
    if (y == 0) b[x + 1 + t] -= m[size * (x + 1 + t) + (y + t)] * b[t];
}
