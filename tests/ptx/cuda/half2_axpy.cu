#include <cuda_fp16.h>
extern "C" __global__ void half2_axpy(int n2, __half2 a, const __half2 *x, __half2 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n2) y[i] = __hfma2(a, x[i], y[i]);
}
