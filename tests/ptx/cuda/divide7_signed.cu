extern "C" __global__ void divide7_signed(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[(i / 7) * 8 + i % 7] = in[i];
}
