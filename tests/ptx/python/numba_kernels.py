"""Kernels in Numba; `make numba` compiles them. The name of each says what it does."""
from numba import cuda, float32, float64, int32

F = "float32[::1]"
F2 = "float32[:,::1]"
D2 = "float64[:,::1]"


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def gridstride(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = x[i] * 2


def transpose(a, b):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        b[x, y] = a[y, x]


def matmul(a, b, c):
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


def matmul_tile(a, b, c):
    sa = cuda.shared.array((8, 8), float64)
    sb = cuda.shared.array((8, 8), float64)
    j, i = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for t in range(a.shape[1] // 8):
        sa[ty, tx] = a[i, t * 8 + tx]
        sb[ty, tx] = b[t * 8 + ty, j]
        cuda.syncthreads()
        for k in range(8):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    c[i, j] = total


def jacobi(a, b):
    x, y = cuda.grid(2)
    if 0 < y < a.shape[0] - 1 and 0 < x < a.shape[1] - 1:
        b[y, x] = 0.25 * (a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x])


def row_sums(a, out):
    y = cuda.blockIdx.x
    total = 0.0
    for x in range(cuda.threadIdx.x, a.shape[1], cuda.blockDim.x):
        total += a[y, x]
    cuda.atomic.add(out, y, total)


def triangle(a, out):
    i = cuda.grid(1)
    if i < out.size:
        total = float32(0)
        for j in range(i + 1):
            total += a[i, j]
        out[i] = total


def backward(x):
    i = cuda.grid(1)
    if i < 16:
        for k in range(x.size - 1 - i, -1, -16):
            x[k] = x[k] + 1


def column(a, k, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        out[i] = a[i, k]


def gather(index, x, y):
    i = cuda.grid(1)
    if i < index.size:
        y[i] = x[index[i]]


KERNELS = {
    saxpy: ("float32", F, F),
    gridstride: (F, F),
    transpose: (F2, F2),
    matmul: (D2, D2, D2),
    matmul_tile: (D2, D2, D2),
    jacobi: (D2, D2),
    row_sums: (D2, "float64[::1]"),
    triangle: (F2, F),
    backward: (F,),
    column: ("float32[:,:]", "int64", "float32[:]"),
    gather: ("int32[::1]", F, F),
}


def texts(arch):
    """The PTX of each kernel, by its name."""
    for kernel, types in KERNELS.items():
        ptx, _ = cuda.compile_ptx(kernel, f"void({', '.join(types)})", cc=divmod(arch, 10))
        yield kernel.__name__, ptx
