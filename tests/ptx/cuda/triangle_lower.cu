extern "C" __global__ void triangle_lower(const float *L, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j <= i; j++) sum += L[i * n + j] * x[j];
    y[i] = sum;
}
