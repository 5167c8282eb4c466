#define BS 16
extern "C" __global__ void lud_perimeter(float *m, int dim, int offset) {
    __shared__ float dia[BS][BS], row[BS][BS], col[BS][BS];
    int i, at, idx;
    if (threadIdx.x < BS) {
        idx = threadIdx.x;
        at = offset * dim + offset;
        for (i = 0; i < BS / 2; i++) { dia[i][idx] = m[at + idx]; at += dim; }
        at = offset * dim + offset;
        for (i = 0; i < BS; i++) { row[i][idx] = m[at + (blockIdx.x + 1) * BS + idx]; at += dim; }
    } else {
        idx = threadIdx.x - BS;
        at = (offset + BS / 2) * dim + offset;
        for (i = BS / 2; i < BS; i++) { dia[i][idx] = m[at + idx]; at += dim; }
        at = (offset + (blockIdx.x + 1) * BS) * dim + offset;
        for (i = 0; i < BS; i++) { col[i][idx] = m[at + idx]; at += dim; }
    }
    __syncthreads();
    if (threadIdx.x < BS) {
        idx = threadIdx.x;
        for (i = 1; i < BS; i++) for (int j = 0; j < i; j++) row[i][idx] -= dia[i][j] * row[j][idx];
    } else {
        idx = threadIdx.x - BS;
        for (i = 0; i < BS; i++) {
            for (int j = 0; j < i; j++) col[idx][i] -= col[idx][j] * dia[j][i];
            col[idx][i] /= dia[i][i];
        }
    }
    __syncthreads();
    if (threadIdx.x < BS) {
        idx = threadIdx.x;
        at = (offset + 1) * dim + offset;
        for (i = 1; i < BS; i++) { m[at + (blockIdx.x + 1) * BS + idx] = row[i][idx]; at += dim; }
    } else {
        idx = threadIdx.x - BS;
        at = (offset + (blockIdx.x + 1) * BS) * dim + offset;
        for (i = 0; i < BS; i++) { m[at + idx] = col[i][idx]; at += dim; }
    }
}
