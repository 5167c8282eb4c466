// A vector by value, a byte by value, a result through a pointer, and a call under a condition.
__device__ __noinline__ float4 scaled(const float4 *p, int i, signed char shift) {
    float4 v = p[i + shift];
    v.x *= 2;
    return v;
}
__device__ __noinline__ void put(float4 v, float4 *p, unsigned char at) { p[at] = v; }
extern "C" __global__ void call_vector(const float4 *in, float4 *out, int n, int back) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = scaled(in, i, (signed char)-back);
        put(v, out + i, (unsigned char)(back + 250));
    }
}
