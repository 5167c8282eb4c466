// The loop is known, the gather is not.
extern "C" __global__ void spmv_ell(int rows, int width, const int *col, const float *val, const float *x, float *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int k = 0; k < width; k++) sum += val[k * rows + r] * x[col[k * rows + r]];
    y[r] = sum;
}
