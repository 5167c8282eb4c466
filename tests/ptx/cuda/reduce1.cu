extern "C" __global__ void reduce1(const int *in, int *out, unsigned n) {
    extern __shared__ int sd[];
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    sd[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) { int index = 2 * s * tid; if (index < blockDim.x) sd[index] += sd[index + s]; __syncthreads(); }
    if (tid == 0) out[blockIdx.x] = sd[0];
}
