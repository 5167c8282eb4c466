#define R 8
#define BX 16
#define BY 8
#define STEPS 12
#define HALO 1
__constant__ float kern[2 * R + 1];
extern "C" __global__ void conv_columns(float *dst, const float *src, int w, int h, int pitch) {
    __shared__ float s[BX][(STEPS + 2 * HALO) * BY + 1];
    int baseX = blockIdx.x * BX + threadIdx.x, baseY = (blockIdx.y * STEPS - HALO) * BY + threadIdx.y;
    src += baseY * pitch + baseX;
    dst += baseY * pitch + baseX;
    for (int i = HALO; i < HALO + STEPS; i++) s[threadIdx.x][threadIdx.y + i * BY] = src[i * BY * pitch];
    for (int i = 0; i < HALO; i++) s[threadIdx.x][threadIdx.y + i * BY] = baseY >= -i * BY ? src[i * BY * pitch] : 0;
    for (int i = HALO + STEPS; i < HALO + STEPS + HALO; i++) s[threadIdx.x][threadIdx.y + i * BY] = h - baseY > i * BY ? src[i * BY * pitch] : 0;
    __syncthreads();
    for (int i = HALO; i < HALO + STEPS; i++) {
        float sum = 0;
        for (int j = -R; j <= R; j++) sum += kern[R - j] * s[threadIdx.x][threadIdx.y + i * BY + j];
        dst[i * BY * pitch] = sum;
    }
}
