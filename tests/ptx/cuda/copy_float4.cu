extern "C" __global__ void copy_float4(const float4 *__restrict__ in, float4 *__restrict__ out, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4) {
        float4 v = in[i];
        v.x += 1.0f;
        out[i] = v;
    }
}
