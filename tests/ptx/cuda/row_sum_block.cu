extern "C" __global__ void row_sum_block(const double *A, double *out, int columns) {
    double sum = 0;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += A[blockIdx.x * columns + j];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
