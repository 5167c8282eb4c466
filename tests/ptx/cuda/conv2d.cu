#define K 5
extern "C" __global__ void conv2d(const float *in, const float *w, float *out, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx - K + 1 || y >= ny - K + 1) return;
    float sum = 0;
    for (int j = 0; j < K; j++)
        for (int i = 0; i < K; i++) sum += w[j * K + i] * in[(y + j) * nx + x + i];
    out[y * nx + x] = sum;
}
