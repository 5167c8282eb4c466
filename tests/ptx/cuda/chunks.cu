// A thread has a part of the array, as large as the number of threads makes it.
extern "C" __global__ void chunks(const double *in, double *out, int n) {
    int threads = gridDim.x * blockDim.x, each = (n + threads - 1) / threads;
    int from = (blockIdx.x * blockDim.x + threadIdx.x) * each, to = min(from + each, n);
    for (int i = from; i < to; i++) out[i] = in[i] + 1;
}
