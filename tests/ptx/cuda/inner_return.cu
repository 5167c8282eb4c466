// The innermost loop may end the thread.
extern "C" __global__ void inner_return(const float *in, float *out, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int a = 0; a < m; a++)
#pragma unroll 1
        for (int b = 0; b < m; b++) {
            if (i + m * a + b >= n) return;
            out[(a * m + b) * n + i] = in[i + m * a + b];
        }
}
