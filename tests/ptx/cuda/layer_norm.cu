// A warp for each row.
extern "C" __global__ void layer_norm(const float *in, const float *gain, const float *bias, float *out, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0, squares = 0;
    for (int j = lane; j < columns; j += 32) {
        float v = in[row * columns + j];
        sum += v;
        squares += v * v;
    }
    for (int s = 16; s; s /= 2) {
        sum += __shfl_xor_sync(~0u, sum, s);
        squares += __shfl_xor_sync(~0u, squares, s);
    }
    float mean = sum / columns, scale = rsqrtf(squares / columns - mean * mean + 1e-5f);
    for (int j = lane; j < columns; j += 32)
        out[row * columns + j] = (in[row * columns + j] - mean) * scale * gain[j] + bias[j];
}
