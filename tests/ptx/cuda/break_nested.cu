// The inner loop ends at the diagonal or at the edge, the outer one where nothing is left.
extern "C" __global__ void break_nested(const float *in, float *out, int n, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rows; r++) {
        float sum = 0;
#pragma unroll 1
        for (int k = 0; k < n; k++) {
            if (k > i + r) break;
            sum += in[r * n + k];
        }
        if (i + 2 * r >= n) break;
        out[r * n + i] = sum;
    }
}
