// Each thread looks through its chunk until it finds a number.
extern "C" __global__ void find_first(const int *in, int *out, int n, int each, int wanted) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = t * each, end = min(i + each, n);
#pragma unroll 1
    while (i < end && in[i] != wanted) i++;
    if (t * each < n) out[t] = i;
}
