extern "C" __global__ void triad(double *__restrict__ a, const double *__restrict__ b, const double *__restrict__ c, double s, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = b[i] + s * c[i];
}
