extern "C" __global__ void transpose_diagonal(const float *in, float *out, int width, int height) {
    __shared__ float tile[32][33];
    int bx, by;
    if (width == height) { by = blockIdx.x; bx = (blockIdx.x + blockIdx.y) % gridDim.x; }
    else { int bid = blockIdx.x + gridDim.x * blockIdx.y; by = bid % gridDim.y; bx = ((bid / gridDim.y) + by) % gridDim.x; }
    int x = bx * 32 + threadIdx.x, y = by * 32 + threadIdx.y, in_at = x + y * width;
    x = by * 32 + threadIdx.x; y = bx * 32 + threadIdx.y;
    int out_at = x + y * height;
    for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = in[in_at + i * width];
    __syncthreads();
    for (int i = 0; i < 32; i += 8) out[out_at + i * height] = tile[threadIdx.x][threadIdx.y + i];
}
