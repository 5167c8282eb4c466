extern "C" __global__ void im2col(const float *in, float *out, int channels, int height, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, ow = width - 2, oh = height - 2;
    if (i >= channels * oh * ow) return;
    int x = i % ow, y = i / ow % oh, c = i / ow / oh;
    for (int ky = 0; ky < 3; ky++)
        for (int kx = 0; kx < 3; kx++)
            out[((c * 9 + ky * 3 + kx) * oh + y) * ow + x] = in[(c * height + y + ky) * width + x + kx];
}
