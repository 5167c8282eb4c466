// Three loops of run-time lengths.
extern "C" __global__ void conv_channels(const float *in, const float *w, float *out, int channels, int size, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, o = blockIdx.z, valid = size - k + 1;
    if (x >= valid) return;
    float sum = 0;
    for (int c = 0; c < channels; c++)
        for (int j = 0; j < k; j++)
            for (int i = 0; i < k; i++)
                sum += w[((o * channels + c) * k + j) * k + i] * in[(c * size + y + j) * size + x + i];
    out[(o * valid + y) * valid + x] = sum;
}
