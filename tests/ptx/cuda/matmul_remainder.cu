// Tiles that do not divide the matrices.
#define T 8
extern "C" __global__ void matmul_remainder(const double *A, const double *B, double *C, int M, int N, int K) {
    __shared__ double a[T][T], b[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    double sum = 0;
    for (int t = 0; t < (K + T - 1) / T; t++) {
        a[ty][tx] = row < M && t * T + tx < K ? A[row * K + t * T + tx] : 0.0;
        b[ty][tx] = col < N && t * T + ty < K ? B[(t * T + ty) * N + col] : 0.0;
        __syncthreads();
        for (int k = 0; k < T; k++) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
