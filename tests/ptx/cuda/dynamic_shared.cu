extern "C" __global__ void dynamic_shared(const float *in, float *out, int n) {
    extern __shared__ float s[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = s[blockDim.x - 1 - t];
}
