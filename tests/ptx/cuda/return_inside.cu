// A thread is done as soon as its row ends.
extern "C" __global__ void return_inside(const float *in, float *out, int n, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rows; r++) {
        if (i + 7 * r >= n) return;
        out[r * n + i] = in[r * n + i + 7 * r];
    }
    out[rows * n + i] = 0;
}
