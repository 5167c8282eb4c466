#define BS 16
__device__ int maximum(int a, int b, int c) { int k = a <= b ? b : a; return k <= c ? c : k; }
extern "C" __global__ void needle(const int *ref, int *mat, int cols, int penalty, int i, int width) {
    __shared__ int temp[BS + 1][BS + 1], r[BS][BS];
    int bx = blockIdx.x, tx = threadIdx.x;
    int b_x = bx, b_y = i - 1 - bx;
    int index = cols * BS * b_y + BS * b_x + tx + (cols + 1);
    int index_n = cols * BS * b_y + BS * b_x + tx + 1;
    int index_w = cols * BS * b_y + BS * b_x + cols;
    int index_nw = cols * BS * b_y + BS * b_x;
    if (tx == 0) temp[tx][0] = mat[index_nw];
    for (int ty = 0; ty < BS; ty++) r[ty][tx] = ref[index + cols * ty];
    __syncthreads();
    temp[tx + 1][0] = mat[index_w + cols * tx];
    __syncthreads();
    temp[0][tx + 1] = mat[index_n];
    __syncthreads();
    for (int m = 0; m < BS; m++) {
        if (tx <= m) {
            int x = tx + 1, y = m - tx + 1;
            temp[y][x] = maximum(temp[y - 1][x - 1] + r[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int m = BS - 2; m >= 0; m--) {
        if (tx <= m) {
            int x = tx + BS - m, y = BS - tx;
            temp[y][x] = maximum(temp[y - 1][x - 1] + r[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int ty = 0; ty < BS; ty++) mat[index + ty * cols] = temp[ty + 1][tx + 1];
}
