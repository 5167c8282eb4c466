// Sums of columns; rows are spread over blocks.
extern "C" __global__ void atomic_columns(const float *in, float *sums, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns) return;
    float sum = 0;
    for (int r = blockIdx.y; r < rows; r += gridDim.y) sum += in[r * columns + c];
    atomicAdd(&sums[c], sum);
}
