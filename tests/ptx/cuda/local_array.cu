extern "C" __global__ void local_array(const float *in, float *out, int n, int shift) {
    float own[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 16; k++) own[k] = in[k * n + i];
#pragma unroll 1
    for (int k = 0; k < 16; k++) out[k * n + i] = own[(k + shift) & 15];
}
