// A pointer that walks, beside an index.
extern "C" __global__ void two_pointers(const float *a, const float *b, float *out, int n, int lda) {
    const float *p = a + blockIdx.x * blockDim.x + threadIdx.x, *q = b + threadIdx.x * n;
    float sum = 0;
    while (q != b + threadIdx.x * n + n) {
        sum += *p * *q++;
        p += lda;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
