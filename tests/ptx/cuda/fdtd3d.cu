#define R 4
#define BX 16
#define BY 8
__constant__ float st[R + 1];
extern "C" __global__ void fdtd3d(float *out, const float *in, int dimx, int dimy, int dimz) {
    bool validr = true, validw = true;
    const int gx = blockIdx.x * blockDim.x + threadIdx.x, gy = blockIdx.y * blockDim.y + threadIdx.y;
    const int lx = threadIdx.x, ly = threadIdx.y, wx = blockDim.x, wy = blockDim.y;
    __shared__ float tile[BY + 2 * R][BX + 2 * R];
    const int sy = dimx + 2 * R, sz = sy * (dimy + 2 * R);
    int ii = 0, oi = 0;
    ii += R * sy + R;
    ii += gy * sy + gx;
    float infront[R], behind[R], current;
    const int tx = lx + R, ty = ly + R;
    if (gx >= dimx + R || gy >= dimy + R) validr = false;
    if (gx >= dimx || gy >= dimy) validw = false;
    for (int i = R - 2; i >= 0; i--) { if (validr) behind[i] = in[ii]; ii += sz; }
    if (validr) current = in[ii];
    oi = ii; ii += sz;
    for (int i = 0; i < R; i++) { if (validr) infront[i] = in[ii]; ii += sz; }
#pragma unroll 9
    for (int iz = 0; iz < dimz; iz++) {
        for (int i = R - 1; i > 0; i--) behind[i] = behind[i - 1];
        behind[0] = current;
        current = infront[0];
#pragma unroll 4
        for (int i = 0; i < R - 1; i++) infront[i] = infront[i + 1];
        if (validr) infront[R - 1] = in[ii];
        ii += sz; oi += sz;
        __syncthreads();
        if (ly < R) { tile[ly][tx] = in[oi - R * sy]; tile[ly + wy + R][tx] = in[oi + wy * sy]; }
        if (lx < R) { tile[ty][lx] = in[oi - R]; tile[ty][lx + wx + R] = in[oi + wx]; }
        tile[ty][tx] = current;
        __syncthreads();
        float v = st[0] * current;
#pragma unroll 4
        for (int i = 1; i <= R; i++) v += st[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
        if (validw) out[oi] = v;
    }
}
