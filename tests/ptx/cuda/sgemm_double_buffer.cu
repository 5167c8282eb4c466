#define BM 32
#define BN 32
#define BK 8
extern "C" __global__ void sgemm_double_buffer(int M, int N, int K, const float *A, const float *B, float *C) {
    __shared__ float As[2][BK][BM], Bs[2][BK][BN];
    int t = threadIdx.x, ra = t >> 1, ca = (t & 1) * 4, rb = t >> 3, cb = (t & 7) * 4;
    int ty = t / 8, tx = t % 8;
    A += blockIdx.y * BM * K; B += blockIdx.x * BN;
    float acc[4][4] = {};
    float4 la = *(const float4 *)&A[ra * K + ca], lb = *(const float4 *)&B[rb * N + cb];
    As[0][ca][ra] = la.x; As[0][ca + 1][ra] = la.y; As[0][ca + 2][ra] = la.z; As[0][ca + 3][ra] = la.w;
    *(float4 *)&Bs[0][rb][cb] = lb;
    __syncthreads();
    int stage = 0;
    for (int k = BK; k < K; k += BK) {
        la = *(const float4 *)&A[ra * K + ca + k]; lb = *(const float4 *)&B[(rb + k) * N + cb];
        for (int d = 0; d < BK; d++) {
            float4 a = *(float4 *)&As[stage][d][ty * 4], b = *(float4 *)&Bs[stage][d][tx * 4];
            float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
            for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) acc[i][j] += av[i] * bv[j];
        }
        stage ^= 1;
        As[stage][ca][ra] = la.x; As[stage][ca + 1][ra] = la.y; As[stage][ca + 2][ra] = la.z; As[stage][ca + 3][ra] = la.w;
        *(float4 *)&Bs[stage][rb][cb] = lb;
        __syncthreads();
    }
    for (int d = 0; d < BK; d++) {
        float4 a = *(float4 *)&As[stage][d][ty * 4], b = *(float4 *)&Bs[stage][d][tx * 4];
        float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
        for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) acc[i][j] += av[i] * bv[j];
    }
    for (int i = 0; i < 4; i++) *(float4 *)&C[(blockIdx.y * BM + ty * 4 + i) * N + blockIdx.x * BN + tx * 4] = {acc[i][0], acc[i][1], acc[i][2], acc[i][3]};
}
