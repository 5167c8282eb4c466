extern "C" __global__ void early_exit(const int *in, int *out, int n, int last) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < 8; k++) {
        if (i + k * n >= last) return;
        out[i + k * n] = in[i + k * n];
    }
    out[i] = 7;
}
