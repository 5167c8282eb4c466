// Back substitution of many tridiagonal systems, one a thread, interleaved.
extern "C" __global__ void backward_recurrence(const double *c, double *x, int rows, int systems) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    double later = x[(rows - 1) * systems + s];
    for (int r = rows - 2; r >= 0; r--) {
        later = x[r * systems + s] - c[r * systems + s] * later;
        x[r * systems + s] = later;
    }
}
