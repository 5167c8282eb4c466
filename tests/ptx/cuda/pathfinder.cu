#define B 64
extern "C" __global__ void pathfinder(int iteration, const int *wall, const int *src, int *results, int cols, int rows, int start, int border) {
    __shared__ int prev[B], result[B];
    int bx = blockIdx.x, tx = threadIdx.x;
    int small = B - iteration * 2;
    int x0 = small * bx - border, x1 = x0 + B - 1, xidx = x0 + tx;
    int v0 = x0 < 0 ? -x0 : 0, v1 = x1 > cols - 1 ? B - 1 - (x1 - cols + 1) : B - 1;
    int w = tx - 1, e = tx + 1;
    w = w < v0 ? v0 : w; e = e > v1 ? v1 : e;
    bool valid = tx >= v0 && tx <= v1;
    if (xidx >= 0 && xidx <= cols - 1) prev[tx] = src[xidx];
    __syncthreads();
    bool computed;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (tx >= i + 1 && tx <= B - i - 2 && valid) {
            computed = true;
            int shortest = min(min(prev[w], prev[tx]), prev[e]);
            result[tx] = shortest + wall[cols * (start + i) + xidx];
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed) results[xidx] = result[tx];
}
