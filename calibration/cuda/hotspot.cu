// Heat on a chip, TF time steps at once in shared memory: what kernels/hotspot.yaml describes, and the same
// arithmetic as the kernel that was tuned for sets/hotspot-a100.yaml. One program for each configuration:
//
//   nvcc -O3 -arch=native -DBX=32 -DBY=8 -DTX=2 -DTY=3 -DTF=3 -DUNROLL=3 -DSHP=1 -DBPS=2 hotspot.cu -o hotspot
//   ./hotspot        bx,by,tx,ty,tf,unroll,sh_power,blocks_per_sm,us,registers,shared bytes,local bytes,error
//
// BPS is the second bound of __launch_bounds__, 0 for none. The time is the median of 12 launches; with ONCE in the
// environment there is one, for a profiler.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define W 4096
#define H 4096
#define MOST 10
#define IW (W + 2 * MOST)
#define TH (BY * TY + 2 * TF)
#define TW (BX * TX + 2 * TF)
#if BPS
#define BOUNDS __launch_bounds__(BX *BY, BPS)
#else
#define BOUNDS
#endif
constexpr int STEPS = UNROLL;
extern "C" __global__ void BOUNDS heat(const float *power, const float *from, float *to, float rx, float ry, float rz, float step) {
    __shared__ float t[2][TH][TW];
#if SHP
    __shared__ float p[TH][TW];
#endif
    const float ambient = 80.0f;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = TX * BX * blockIdx.x, y = TY * BY * blockIdx.y;
#pragma unroll
    for (int j = ty; j < TH; j += BY) {
#pragma unroll
        for (int i = tx; i < TW; i += BX) {
            const int gx = x + i + MOST - TF, gy = y + j + MOST - TF;
            if (gx < IW && gy < H + 2 * MOST) {
                t[1][j][i] = from[gy * IW + gx];
#if SHP
                p[j][i] = power[gy * IW + gx];
#endif
            }
        }
    }
    __syncthreads();
#pragma unroll (STEPS)
    for (int s = 1; s <= TF; s++) {
        const int here = s % 2, there = 1 - here;
#pragma unroll
        for (int j = ty + s; j < TH - s; j += BY) {
#pragma unroll
            for (int i = tx + s; i < TW - s; i += BX) {
                const int gx = x + i + MOST - TF, gy = y + j + MOST - TF;
                if (gx < IW && gy < H + 2 * MOST) {
#if SHP
                    const float watt = p[j][i];
#else
                    const float watt = power[gy * IW + gx];
#endif
                    const float c = t[here][j][i];
                    t[there][j][i] = c + step * (watt + (t[here][j + 1][i] + t[here][j - 1][i] - 2.0 * c) * ry +
                                                 (t[here][j][i + 1] + t[here][j][i - 1] - 2.0 * c) * rx + (ambient - c) * rz);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < TY; j++) {
#pragma unroll
        for (int i = 0; i < TX; i++) {
            const int gx = x + tx + i * BX, gy = y + ty + j * BY;
            if (gx < W && gy < H) {
                to[gy * W + gx] = t[(TF + 1) % 2][ty + j * BY + TF][tx + i * BX + TF];
            }
        }
    }
}
int main() {
    float *a, *b, *c;
    const size_t n = (size_t)IW * (H + 2 * MOST);
    cudaMalloc(&a, n * 4), cudaMalloc(&b, n * 4), cudaMalloc(&c, n * 4);
    cudaMemset(a, 0, n * 4), cudaMemset(b, 0, n * 4);
    dim3 block(BX, BY), grid((W + BX * TX - 1) / (BX * TX), (H + BY * TY - 1) / (BY * TY));
    cudaEvent_t u, v;
    cudaEventCreate(&u), cudaEventCreate(&v);
    std::vector<float> times;
    const char *once = getenv("ONCE");
    for (int i = 0; i < (once ? 1 : 12); i++) {
        cudaEventRecord(u);
        heat<<<grid, block>>>(b, a, c, 0.1f, 0.2f, 0.3f, 0.4f);
        cudaEventRecord(v);
        cudaEventSynchronize(v);
        float ms;
        cudaEventElapsedTime(&ms, u, v);
        times.push_back(ms * 1000);
    }
    std::sort(times.begin(), times.end());
    cudaFuncAttributes f;
    cudaFuncGetAttributes(&f, heat);
    printf("%d,%d,%d,%d,%d,%d,%d,%d,%.3f,%d,%d,%d,%s\n", BX, BY, TX, TY, TF, UNROLL, SHP, BPS, times[times.size() / 2], f.numRegs, (int)f.sharedSizeBytes, (int)f.localSizeBytes, cudaGetErrorString(cudaGetLastError()));
}
