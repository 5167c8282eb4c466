extern "C" __global__ void strided(const double *in, double *out, int n, int stride) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    if (i < n) out[i] = in[i] + 1;
}
