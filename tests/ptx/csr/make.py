"""The rows of a sparse matrix as kernels get them: the five-point stencil of a grid whose edges meet."""

import struct
from pathlib import Path

SIDE = 32


def save(name: str, values: list[int]) -> None:
    """A file as `numpy.save` writes it."""
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}i", *values)
    (Path(__file__).parent / name).write_bytes(data)


ROWS = SIDE * SIDE
save("start.npy", [5 * row for row in range(ROWS + 1)])
save("col.npy", [(row + step) % ROWS for row in range(ROWS) for step in (0, -SIDE, -1, 1, SIDE)])
