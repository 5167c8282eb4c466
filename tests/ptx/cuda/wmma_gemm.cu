#include <mma.h>
// A warp for each 16 x 16 part of C, one matrix through shared memory.
extern "C" __global__ void wmma_gemm(const half *a, const half *b, float *c, int n, int k) {
    using namespace nvcuda::wmma;
    __shared__ __align__(32) half tile[2][16][24];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = 16 * blockIdx.y, column = 16 * (2 * blockIdx.x + warp);
    fragment<matrix_a, 16, 16, 16, half, row_major> left;
    fragment<matrix_b, 16, 16, 16, half, col_major> right;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += 16) {
        for (int j = lane; j < 256; j += 32) tile[warp][j / 16][j % 16] = b[(column + j / 16) * k + i + j % 16];
        __syncwarp();
        load_matrix_sync(left, a + row * k + i, k);
        load_matrix_sync(right, &tile[warp][0][0], 24);
        mma_sync(sum, left, right, sum);
        __syncwarp();
    }
    store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}
