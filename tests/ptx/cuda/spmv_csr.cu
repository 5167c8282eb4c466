extern "C" __global__ void spmv_csr(int rows, const int *start, const int *col, const double *val, const double *x, double *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double sum = 0;
    for (int k = start[r]; k < start[r + 1]; k++) sum += val[k] * x[col[k]];
    y[r] = sum;
}
