extern "C" __global__ void bit_reversal(const float2 *in, float2 *out, int bits) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[__brev(i) >> (32 - bits)] = in[i];
}
