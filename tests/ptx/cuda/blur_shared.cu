extern "C" __global__ void blur_shared(const unsigned char *in, unsigned char *out, int nx, int ny) {
    __shared__ unsigned char s[18][34];
    int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 16 - 1;
    for (int y = threadIdx.y; y < 18; y += blockDim.y)
        for (int x = threadIdx.x; x < 34; x += blockDim.x) {
            int gx = min(max(x0 + x, 0), nx - 1), gy = min(max(y0 + y, 0), ny - 1);
            s[y][x] = in[gy * nx + gx];
        }
    __syncthreads();
    for (int y = threadIdx.y; y < 16; y += blockDim.y) {
        int sum = 0;
        for (int dy = 0; dy < 3; dy++)
            for (int dx = 0; dx < 3; dx++) sum += s[y + dy][threadIdx.x + dx];
        int gx = x0 + 1 + threadIdx.x, gy = y0 + 1 + y;
        if (gx < nx && gy < ny) out[gy * nx + gx] = sum / 9;
    }
}
