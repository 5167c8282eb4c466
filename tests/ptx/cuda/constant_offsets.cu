// Offsets from constant memory: addresses that only its initial values tell.
__constant__ int ahead[4] = {0, 3, 5, 11};
extern "C" __global__ void constant_offsets(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 11 >= n) return;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 4; k++) sum += in[i + ahead[k]];
    out[i] = sum;
}
