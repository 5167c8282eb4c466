extern "C" __global__ void negative_step(const double *a, double *b, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = n - 1 - t; i >= 0; i -= gridDim.x * blockDim.x) b[i] = a[i] * 2.0;
}
