// Arrays of a thread that are indexed by a number that the kernel is given, of three sizes.
extern "C" __global__ void local_dynamic(const double *in, double *out, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double wide[8];
    short narrow[12];
#pragma unroll 1
    for (int j = 0; j < 8; j++) wide[(j + k) & 7] = in[j * n + i];
#pragma unroll 1
    for (int j = 0; j < 12; j++) narrow[(j * 5 + k) % 12] = (short)j;
#pragma unroll 1
    for (int j = 0; j < 8; j++) out[j * n + i] = wide[(7 - j + 2 * k) & 7] + narrow[j];
}
