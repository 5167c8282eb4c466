extern "C" __global__ void triangle_upper(const double *A, double *out, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = i + 1; j < n; j++) {
        double sum = 0;
        for (int k = 0; k < m; k++) sum += A[k * n + i] * A[k * n + j];
        out[i * n + j] = sum;
    }
}
