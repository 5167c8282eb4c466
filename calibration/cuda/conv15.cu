// Convolution of 15 x 15 with a tile in shared memory and TX x TY outputs of a thread: what kernels/conv15.yaml
// describes. One program for each configuration:
//
//   nvcc -O3 -arch=native -DBX=48 -DBY=4 -DTX=2 -DTY=2 -DPAD=1 conv15.cu -o conv15
//   ./conv15         bx,by,tx,ty,padding,us,registers,shared bytes,local bytes,error
//
// The time is the median of 12 launches; with ONCE in the environment there is one, for a profiler.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define W 4096
#define H 4096
#define F 15
#define IW (W + F - 1)
#define X (BX * TX)
#define Y (BY * TY)
#define NARROW (X + F - 1)
#define WIDE (NARROW + (PAD && BX % 32 ? (((BX - NARROW) % 32) + 32) % 32 : 0))
__constant__ float weights[F * F];
extern "C" __global__ void conv(float *out, const float *in) {
    __shared__ float tile[Y + F - 1][WIDE];
    const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * X, y = blockIdx.y * Y;
#pragma unroll
    for (int i = ty; i < Y + F - 1; i += BY) {
#pragma unroll
        for (int j = tx; j < X + F - 1; j += BX) {
            if (y + i < H + F - 1 && x + j < IW) {
                tile[i][j] = in[(y + i) * IW + x + j];
            }
        }
    }
    __syncthreads();
    float sum[TY][TX];
#pragma unroll
    for (int q = 0; q < TY; q++)
#pragma unroll
        for (int p = 0; p < TX; p++) sum[q][p] = 0.0f;
#pragma unroll
    for (int i = 0; i < F; i++)
#pragma unroll
        for (int j = 0; j < F; j++)
#pragma unroll
            for (int q = 0; q < TY; q++)
#pragma unroll
                for (int p = 0; p < TX; p++) sum[q][p] += tile[ty + q * BY + i][tx + p * BX + j] * weights[i * F + j];
#pragma unroll
    for (int q = 0; q < TY; q++)
#pragma unroll
        for (int p = 0; p < TX; p++) {
            const int gx = x + tx + p * BX, gy = y + ty + q * BY;
            if (gx < W && gy < H) out[gy * W + gx] = sum[q][p];
        }
}
int main() {
    float *a, *b;
    const size_t n = (size_t)IW * (H + F - 1);
    cudaMalloc(&a, n * 4), cudaMalloc(&b, n * 4);
    cudaMemset(a, 0, n * 4);
    dim3 block(BX, BY), grid((W + X - 1) / X, (H + Y - 1) / Y);
    cudaEvent_t u, v;
    cudaEventCreate(&u), cudaEventCreate(&v);
    std::vector<float> times;
    for (int i = 0; i < (getenv("ONCE") ? 1 : 12); i++) {
        cudaEventRecord(u);
        conv<<<grid, block>>>(b, a);
        cudaEventRecord(v);
        cudaEventSynchronize(v);
        float ms;
        cudaEventElapsedTime(&ms, u, v);
        times.push_back(ms * 1000);
    }
    std::sort(times.begin(), times.end());
    cudaFuncAttributes f;
    cudaFuncGetAttributes(&f, conv);
    printf("%d,%d,%d,%d,%d,%.3f,%d,%d,%d,%s\n", BX, BY, TX, TY, PAD, times[times.size() / 2], f.numRegs, (int)f.sharedSizeBytes, (int)f.localSizeBytes, cudaGetErrorString(cudaGetLastError()));
}
