"""pystencils kernels, built anew: those of tests/clients, variants of them, and what cannot be said."""

import pytest

ps = pytest.importorskip("pystencils", reason="pystencils is not installed: pip install pystencils")

import wavecast
from clients import assert_same_as_client
from wavecast import pystencils as adapter
from pystencils.codegen.config import GpuIndexingScheme as Scheme


def star(
    radius, shape, *, scheme=None, dtype="float64", symbolic=False, cells=((0, 0, 0),), slices=None, layout="fzyx"
):
    """A star stencil for some cells of each work item."""
    if symbolic:
        src, dst = (ps.Field.create_generic(n, 3, layout=layout, dtype=dtype) for n in ("src", "dst"))
    else:
        src, dst = (ps.Field.create_fixed_size(n, shape, layout=layout, dtype=dtype) for n in ("src", "dst"))

    def at(cell, axis, distance):
        return src[tuple(c + distance * (a == axis) for a, c in enumerate(cell))]

    near = [(a, s * r) for r in range(1, radius + 1) for a in range(3) for s in (-1, 1)]
    assignments = [ps.Assignment(dst[c], src[c] + sum(at(c, a, d) for a, d in near)) for c in cells]
    config = ps.CreateKernelConfig(target=ps.Target.CUDA, default_dtype=dtype)
    if slices is None:
        config.ghost_layers = radius
    else:
        # Cells of one work item do not overlap, but pystencils cannot know.
        config.iteration_slice, config.allow_double_writes, config.skip_independence_check = slices, True, True
    if scheme is not None:
        config.gpu.indexing_scheme = scheme
    return ps.create_kernel(assignments, config)


def folded(axis):
    slices = tuple(slice(4, -4, 2 if a == axis else None) for a in range(3))
    other = tuple(int(a == axis) for a in range(3))
    return star(4, (640, 512, 512), cells=((0, 0, 0), other), slices=slices)


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("star3d7", lambda: star(1, (642, 514, 514))),
        ("star3d7_linear1d", lambda: star(1, (642, 514, 514), scheme=Scheme.Linear1D)),
        ("star3d7_gridstride", lambda: star(1, (642, 514, 514), scheme=Scheme.GridstridedLinear3D)),
        ("star3d25_paper", lambda: star(4, (640, 512, 512))),
        ("star3d25_paper_2y", lambda: folded(1)),
        ("star3d25_paper_2z", lambda: folded(2)),
    ],
)
def test_clients(name, build):
    assert_same_as_client(adapter.document(build(), align_interior=128), name)


def test_sizes_may_be_symbols():
    fixed = adapter.document(star(2, (68, 36, 20)))
    symbolic = adapter.document(star(2, None, symbolic=True), shape=(68, 36, 20))
    assert symbolic == fixed
    by_name = adapter.document(star(2, None, symbolic=True), shape={"src": (68, 36, 20), "dst": (68, 36, 20)})
    assert by_name == fixed
    with pytest.raises(adapter.Unsupported, match="give shape"):
        adapter.document(star(2, None, symbolic=True))


@pytest.mark.parametrize(("layout", "index_layout"), [("fzyx", None), ("zyxf", "aos"), ("c", None), ("f", None)])
def test_index_dimensions_of_symbolic_fields(layout, index_layout):
    def kernel(make):
        src, dst = make("src"), make("dst")
        return ps.create_kernel(
            [ps.Assignment(dst(i), src[1, 0, 0](2 - i)) for i in range(3)],
            ps.CreateKernelConfig(target=ps.Target.CUDA, ghost_layers=1),
        )

    options = {"index_dimensions": 1, "layout": layout}
    fixed = kernel(lambda n: ps.Field.create_fixed_size(n, (18, 12, 8, 3), **options))
    symbolic = kernel(lambda n: ps.Field.create_generic(n, 3, index_shape=(3,), **options))
    found = adapter.document(symbolic, shape=(18, 12, 8), index_layout=index_layout)
    assert len(found["loads"]) == len(found["stores"]) == 3
    where = {"block_index": (1, 1, 1), "thread": (1, 0, 1)}
    assert wavecast.touches(found, (4, 2, 2), **where) == wavecast.touches(adapter.document(fixed), (4, 2, 2), **where)


def test_f32_and_unaligned_and_c_order():
    document = adapter.document(star(1, (66, 34, 18), dtype="float32"))
    assert document["fields"]["src"]["dtype"] == "f32" and document["work"]["precision"] == "f32"
    aligned = adapter.document(star(1, (66, 34, 18), dtype="float32"), align_interior=128)
    assert aligned["fields"]["src"]["offset"] == 31 and "offset" not in document["fields"]["src"]
    order = adapter.document(star(1, (66, 34, 18), layout="c"))
    assert order["fields"]["src"]["strides"] == [34 * 18, 18, 1]
    # The fastest coordinate runs along threads x.
    assert [list(a.values())[0] for a in order["domain"]] == [16, 32, 64]
    touched = wavecast.touches(order, (8, 4, 2), block_index=(0, 0, 0), thread=(1, 0, 0))
    assert touched["store", "dst"] == [34 * 18 + 18 + 2]


@pytest.mark.parametrize("scheme", list(Scheme), ids=lambda s: s.name)
def test_every_scheme_touches_all_cells_once(scheme):
    document = adapter.document(star(1, (14, 8, 6), scheme=scheme), blocks=[[8, 2, 2]])
    blocks = document["launch"]["block"][0]
    extents = [*(list(a.values())[0] for a in document["domain"]), 1, 1][:3]
    grid = [-(-n // b) for n, b in zip(extents, blocks)]
    stores = []
    for place in [(x, y, z) for x in range(grid[0]) for y in range(grid[1]) for z in range(grid[2])]:
        for thread in [(x, y, z) for x in range(blocks[0]) for y in range(blocks[1]) for z in range(blocks[2])]:
            found = wavecast.touches(document, blocks, block_index=place, thread=thread)
            stores += found.get(("store", "dst"), [])
    assert sorted(stores) == sorted(
        x + 14 * y + 112 * z for x in range(1, 13) for y in range(1, 7) for z in range(1, 5)
    )


def test_one_import_and_one_call():
    kernel = star(1, (66, 66, 66))
    ranking = adapter.rank(kernel, "a100")
    assert ranking.best["rank"] == 1 and "10^9 LUP/s" in str(ranking)
    assert adapter.default_block(kernel) == (8, 8, 4)
    assert ranking.place(adapter.default_block(kernel))["rank"] > 1


def test_the_choice_goes_back():
    kernel = star(1, (66, 66, 66))
    ranking = adapter.rank(kernel, "a100", block=[[32, 2, 2]])
    config = adapter.configure(ps.CreateKernelConfig(target=ps.Target.CUDA, ghost_layers=1), ranking)
    assert config.gpu.default_block_size == (32, 2, 2)
    src, dst = ps.fields("src, dst: double[66, 66, 66]", layout="fzyx")
    rebuilt = ps.create_kernel(ps.Assignment(dst[0, 0, 0], src[1, 0, 0]), config)
    block, grid = rebuilt.get_launch_configuration().evaluate()
    assert (tuple(block), tuple(grid)) == ((32, 2, 2), (2, 32, 32))
    block, _ = adapter.launch_configuration(kernel, (16, 4, 1)).evaluate()
    assert tuple(block) == (16, 4, 1)


def test_what_cannot_be_said_says_why():
    src, dst = ps.fields("src, dst: double[66, 66]", layout="fzyx")
    kernel = ps.create_kernel(ps.Assignment(dst[0, 0], src[0, 0]))
    with pytest.raises(adapter.Unsupported, match="target"):
        adapter.document(kernel)
