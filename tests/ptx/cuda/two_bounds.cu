// A loop with two bounds: its length becomes the larger of two negative numbers, as ones without a sign.
extern "C" __global__ void two_bounds(int all, int first, const float4 *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = out[i];
    int left = all - first;
    for (int k = 0; k < left && k < 512; k++) {
        float4 v = in[k];
        sum += v.x * v.w + v.y * v.z;
    }
    out[i] = sum;
}
