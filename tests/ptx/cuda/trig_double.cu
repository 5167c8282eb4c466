extern "C" __global__ void trig_double(const double *x, double *s, double *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sine, cosine;
    sincos(x[i], &sine, &cosine);
    s[i] = sine;
    c[i] = cosine + tan(x[i]) + lgamma(x[i]);
}
