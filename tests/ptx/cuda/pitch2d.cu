extern "C" __global__ void pitch2d(const char *in, size_t in_pitch, char *out, size_t out_pitch, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) ((float *)(out + y * out_pitch))[x] = ((const float *)(in + y * in_pitch))[x] + 1;
}
