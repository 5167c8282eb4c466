extern "C" __global__ void switched(const float *in, float *out, int n, int mode) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int j;
    switch (mode) {
    case 0: j = i; break;
    case 1: j = n - 1 - i; break;
    case 2: j = i ^ 1; break;
    case 3: j = i / 2; break;
    case 4: j = (i * 5) % n; break;
    default: return;
    }
    out[j] = in[i];
}
