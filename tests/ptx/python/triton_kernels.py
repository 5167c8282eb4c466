"""Kernels in Triton; `make triton` compiles them. The name of each says what it does."""
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def copy2d(a, b, rows, columns, lda, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(1) * R + tl.arange(0, R)[:, None]
    c = tl.program_id(0) * C + tl.arange(0, C)[None, :]
    inside = (r < rows) & (c < columns)
    tl.store(b + r * columns + c, tl.load(a + r * lda + c, mask=inside), mask=inside)


@triton.jit
def transpose(a, b, n, B: tl.constexpr):
    r = tl.program_id(1) * B + tl.arange(0, B)
    c = tl.program_id(0) * B + tl.arange(0, B)
    tile = tl.load(a + r[:, None] * n + c[None, :])
    tl.store(b + c[:, None] * n + r[None, :], tl.trans(tile))


@triton.jit
def softmax(a, b, columns, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(a + row * columns + c, mask=c < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(b + row * columns + c, e / tl.sum(e, 0), mask=c < columns)


@triton.jit
def row_sum(a, out, columns, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((B,), tl.float32)
    for c0 in range(0, columns, B):
        c = c0 + tl.arange(0, B)
        total += tl.load(a + row * columns + c, mask=c < columns, other=0.0)
    tl.store(out + row, tl.sum(total, 0))


@triton.jit
def jacobi(a, b, nx, ny, BX: tl.constexpr, BY: tl.constexpr):
    x = tl.program_id(0) * BX + tl.arange(0, BX)[None, :] + 1
    y = tl.program_id(1) * BY + tl.arange(0, BY)[:, None] + 1
    inside = (x < nx - 1) & (y < ny - 1)
    p = a + y * nx + x
    v = tl.load(p - 1, mask=inside) + tl.load(p + 1, mask=inside) + tl.load(p - nx, mask=inside) + tl.load(p + nx, mask=inside)
    tl.store(b + y * nx + x, v * 0.25, mask=inside)


@triton.jit
def gather(index, x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    at = tl.load(index + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + at, mask=i < n), mask=i < n)


@triton.jit
def strided(x, out, n, stride, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i * stride, mask=i < n), mask=i < n)


@triton.jit
def atomic_rows(a, sums, columns, B: tl.constexpr):
    row = tl.program_id(1)
    c = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(sums + c, tl.load(a + row * columns + c, mask=c < columns), mask=c < columns)


@triton.jit
def matmul(a, b, c, n, T: tl.constexpr):
    r = tl.program_id(1) * T + tl.arange(0, T)
    s = tl.program_id(0) * T + tl.arange(0, T)
    total = tl.zeros((T, T), tl.float32)
    for k0 in range(0, n, T):
        k = k0 + tl.arange(0, T)
        total += tl.dot(tl.load(a + r[:, None] * n + k[None, :]), tl.load(b + k[:, None] * n + s[None, :]))
    tl.store(c + r[:, None] * n + s[None, :], total)


# The types of what is not a constant, the constants, and what is a multiple of 16.
KERNELS = {
    add: ("*fp32 *fp32 *fp32 i32", {"B": 512}, (0, 1, 2)),
    copy2d: ("*fp32 *fp32 i32 i32 i32", {"R": 8, "C": 64}, (0, 1, 4)),
    transpose: ("*fp32 *fp32 i32", {"B": 32}, (0, 1, 2)),
    softmax: ("*fp32 *fp32 i32", {"B": 256}, (0, 1)),
    row_sum: ("*fp32 *fp32 i32", {"B": 256}, (0, 1, 2)),
    jacobi: ("*fp64 *fp64 i32 i32", {"BX": 32, "BY": 4}, (0, 1)),
    gather: ("*i32 *fp32 *fp32 i32", {"B": 256}, (0, 1, 2)),
    strided: ("*fp32 *fp32 i32 i32", {"B": 256}, (0, 1)),
    atomic_rows: ("*fp32 *fp32 i32", {"B": 256}, (0, 1)),
    matmul: ("*fp16 *fp16 *fp32 i32", {"T": 32}, (0, 1, 2, 3)),
}


def texts(arch):
    """The PTX of each kernel, by its name."""
    for kernel, (types, constants, multiples) in KERNELS.items():
        names = [p for p in kernel.arg_names if p not in constants]
        signature = dict(zip(names, types.split())) | {name: "constexpr" for name in constants}
        aligned = {(i,): [["tt.divisibility", 16]] for i in multiples}
        source = ASTSource(kernel, signature, constants, aligned)
        made = triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": 4})
        yield kernel.__name__, made.asm["ptx"]
