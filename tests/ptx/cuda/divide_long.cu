extern "C" __global__ void divide_long(const float *in, float *out, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i / 10 * 16 + i % 10] = in[i];
}
