extern "C" __global__ void complex_scale(double2 *z, double2 f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double2 v = z[i];
    z[i] = make_double2(v.x * f.x - v.y * f.y, v.x * f.y + v.y * f.x);
}
