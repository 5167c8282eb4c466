extern "C" __global__ void ring_buffer(const float *in, float *ring, int head, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) ring[(head + i) & 1023] = in[i];
}
