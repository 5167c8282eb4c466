extern "C" __global__ void gemv_columns(const double *A, const double *x, double *y, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    double sum = 0;
    for (int j = 0; j < n; j++) sum += A[j * m + i] * x[j];
    y[i] = sum;
}
