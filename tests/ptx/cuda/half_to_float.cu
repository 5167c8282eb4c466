#include <cuda_fp16.h>
extern "C" __global__ void half_to_float(const __half *x, float *y, int n) {
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2; i + 1 < n; i += 2 * gridDim.x * blockDim.x) {
        y[i] = __half2float(x[i]);
        y[i + 1] = __half2float(x[i + 1]) * 2;
    }
}
