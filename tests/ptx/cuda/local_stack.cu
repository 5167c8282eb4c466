// How deep a stack is depends on data.
extern "C" __global__ void local_stack(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int stack[16], top = 0;
#pragma unroll 1
    for (int k = 0; k < 16; k++) {
        int v = in[k * n + i];
        if (v > 0) stack[top++] = v;
        else if (top > 0) top--;
    }
    out[i] = top > 0 ? stack[top - 1] : 0;
}
