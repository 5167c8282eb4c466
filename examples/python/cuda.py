"""Which block a CUDA kernel should be launched with, from its source: a 5-point stencil and a transposition through shared
memory whose tile is baked in. Needs no GPU.

    pip install 'wavecast[cuda]'
    python examples/python/cuda.py
"""

import sys

import wavecast.cuda
from wavecast.cuda import Array

STENCIL = """
__global__ void stencil(const double *a, double *b, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x < nx - 1 && y < ny - 1)
        b[y * nx + x] = 0.25 * (a[y * nx + x - 1] + a[y * nx + x + 1] + a[(y - 1) * nx + x] + a[(y + 1) * nx + x]);
}
"""
TRANSPOSE = """
template <typename T>
__global__ void transpose(const T *a, T *b, int n) {
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = a[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) b[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
"""
DEVICE = "a100"

try:
    n = 4096
    field = Array((n, n), "float64")
    ranking = wavecast.cuda.rank(STENCIL, dict(a=field, b=field, nx=n, ny=n), device=DEVICE)
    print(ranking.table(5))
    print(ranking.explain()["sentences"][1]["text"], "\n")
    ranking = wavecast.cuda.rank(
        TRANSPOSE,
        dict(n=n),
        grid=lambda block: (n // block[0], n // block[0]),
        device=DEVICE,
        entry="transpose<float>",
        options=["-DTILE={x}", "-DROWS={y}"],
        blocks=[(tile, rows) for tile in (16, 32) for rows in (4, 8, 16)],
    )
    print(ranking)
except ImportError as missing:
    sys.exit(f"not run: {missing}")
