extern "C" __global__ void adi_row(const float *a, float *b, float *x, int n) {
    int i1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i1 < n) {
        for (int i2 = 1; i2 < n; i2++) {
            x[i1 * n + i2] = x[i1 * n + i2] - x[i1 * n + i2 - 1] * a[i1 * n + i2] / b[i1 * n + i2 - 1];
            b[i1 * n + i2] = b[i1 * n + i2] - a[i1 * n + i2] * a[i1 * n + i2] / b[i1 * n + i2 - 1];
        }
        for (int i2 = 0; i2 < n - 2; i2++)
            x[i1 * n + (n - i2 - 2)] = (x[i1 * n + (n - 2 - i2)] - x[i1 * n + (n - 2 - i2 - 1)] * a[i1 * n + (n - i2 - 3)]) / b[i1 * n + (n - 3 - i2)];
    }
}
