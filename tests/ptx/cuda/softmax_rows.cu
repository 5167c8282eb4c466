// A block for each row, in three passes.
extern "C" __global__ void softmax_rows(const float *in, float *out, int columns) {
    __shared__ float warps[32];
    const float *row = in + (size_t)blockIdx.x * columns;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, many = (blockDim.x + 31) >> 5;
    float top = -3e38f;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) top = fmaxf(top, row[j]);
    for (int s = 16; s; s >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, s));
    if (lane == 0) warps[warp] = top;
    __syncthreads();
    top = warps[0];
    for (int w = 1; w < many; w++) top = fmaxf(top, warps[w]);
    __syncthreads();
    float sum = 0;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += __expf(row[j] - top);
    for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(~0u, sum, s);
    if (lane == 0) warps[warp] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < many; w++) sum += warps[w];
    for (int j = threadIdx.x; j < columns; j += blockDim.x) out[(size_t)blockIdx.x * columns + j] = __expf(row[j] - top) / sum;
}
