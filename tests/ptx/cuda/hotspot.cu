#define BS 16
#define IN_RANGE(x, lo, hi) ((x) >= (lo) && (x) <= (hi))
#define CLAMP(x, lo, hi) ((x) <= (lo) ? (lo) : ((x) >= (hi) ? (hi) : (x)))
extern "C" __global__ void hotspot(int iterations, const float *power, const float *src, float *dst, int cols, int rows,
        int bcols, int brows, float cap, float rx, float ry, float rz, float step) {
    __shared__ float told[BS][BS], pw[BS][BS], tnew[BS][BS];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int small_rows = BS - iterations * 2, small_cols = BS - iterations * 2;
    int y0 = small_rows * by - brows, x0 = small_cols * bx - bcols;
    int y1 = y0 + BS - 1, x1 = x0 + BS - 1;
    int y = y0 + ty, x = x0 + tx;
    int index = cols * y + x;
    if (IN_RANGE(y, 0, rows - 1) && IN_RANGE(x, 0, cols - 1)) {
        told[ty][tx] = src[index];
        pw[ty][tx] = power[index];
    }
    __syncthreads();
    int vy0 = y0 < 0 ? -y0 : 0, vy1 = y1 > rows - 1 ? BS - 1 - (y1 - rows + 1) : BS - 1;
    int vx0 = x0 < 0 ? -x0 : 0, vx1 = x1 > cols - 1 ? BS - 1 - (x1 - cols + 1) : BS - 1;
    int n = ty - 1, s = ty + 1, w = tx - 1, e = tx + 1;
    n = n < vy0 ? vy0 : n; s = s > vy1 ? vy1 : s; w = w < vx0 ? vx0 : w; e = e > vx1 ? vx1 : e;
    bool done = false;
    for (int i = 0; i < iterations; i++) {
        done = false;
        if (IN_RANGE(tx, i + 1, BS - i - 2) && IN_RANGE(ty, i + 1, BS - i - 2) && IN_RANGE(tx, vx0, vx1) && IN_RANGE(ty, vy0, vy1)) {
            done = true;
            tnew[ty][tx] = told[ty][tx] + step / cap * (pw[ty][tx] + (told[s][tx] + told[n][tx] - 2.0f * told[ty][tx]) / ry
                + (told[ty][e] + told[ty][w] - 2.0f * told[ty][tx]) / rx + (80.0f - told[ty][tx]) / rz);
        }
        __syncthreads();
        if (i == iterations - 1) break;
        if (done) told[ty][tx] = tnew[ty][tx];
        __syncthreads();
    }
    if (done) dst[index] = tnew[ty][tx];
}
