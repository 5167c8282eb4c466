extern "C" __global__ void floyd_warshall(int *d, int n, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    int via = d[y * n + k] + d[k * n + x];
    if (via < d[y * n + x]) d[y * n + x] = via;
}
