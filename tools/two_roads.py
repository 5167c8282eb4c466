#!/usr/bin/env python3
"""Two roads to one document: what the adapters say of generated kernels, and what is read of their PTX.

    tools/two_roads.py WAVECAST FOLDER [--only WORD] [--device a100]

Kernels of pystencils, lbmpy, loopy and Devito (as many as are installed; `wavecast` for Python too), in many variations.
The adapter makes a document of the generator's data structures. The text that the generator emits goes through NVRTC,
and the PTX is read. Accesses of threads and volumes of launches have to be the same, or the compiler did it.

pystencils, lbmpy and loopy write CUDA without a GPU. Devito 4.8 has no printer for CUDA that is open: its OpenACC text
is taken, and each parallel loop nest is made a kernel: the collapsed loops become threads, the body stays as it is.

Exit status 1: something was refused, or is wrong.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import sys

from two_documents import Refused, Table, Wavecast, compiler, launches, places, rolled_up, touches, verdict

os.environ.setdefault("DEVITO_LOGGING", "ERROR")

#: What the texts take from headers.
PRELUDE = """
#define RESTRICT __restrict__
#define restrict __restrict__
typedef long long int64_t; typedef int int32_t; typedef short int16_t; typedef signed char int8_t;
typedef unsigned long long uint64_t; typedef unsigned int uint32_t; typedef unsigned short uint16_t; typedef unsigned char uint8_t;
"""
#: Tiles as large as an array take long to count.
STEPS = ["--limit", "steps=500000000"]
BYTES = {"double": "f64", "float": "f32", "int": "s32", "int64_t": "s64", "int32_t": "s32", "char": "u8"}


class Case:
    """A kernel by both roads: the adapter's document, and CUDA text with the values of its parameters."""

    def __init__(self, name, document, text, entry, values=None):
        self.name, self.document, self.entry, self.values = name, document, entry, values or {}
        self.text = PRELUDE + (text if 'extern "C"' in text else text.replace("__global__", 'extern "C" __global__', 1))

    def field(self, name):
        """What the document calls a field: names that mean something there have an underscore."""
        fields = self.document["fields"]
        found = next((n for n in (name, f"{name}_", name[:-1], name.removeprefix("_data_")) if n in fields), None)
        return found or f"{name.removeprefix('_data_')}_"

    def arguments(self, size):
        head = re.search(rf"__global__\s+void\s+(?:__launch_bounds__\(\d+\)\s+)?{self.entry}\s*\(([^)]*)\)", self.text)[1]
        found = []
        for number, parameter in enumerate(p.strip() for p in head.split(",")):
            words = re.findall(r"\w+", parameter)
            name, kind = words[-1], next(w for w in words if w in BYTES)
            if "*" in parameter:
                field = self.field(name)
                element = int(BYTES[kind][1:]) // 8
                value = f"{field}:{BYTES[kind]}[{size[field] // element}]" if field in size else f"unused{number}"
            else:
                value = self.values.get(name, "0.5")
            found += ["--arg", f"{number}={value}"]
        return found


class Roads:
    """Compares both for all launches."""

    def __init__(self, given):
        self.given, self.wavecast, self.nvrtc = given, Wavecast(given.wavecast), compiler()
        given.folder.mkdir(parents=True, exist_ok=True)

    def file(self, case, ending):
        return self.given.folder / f"{re.sub('[^A-Za-z0-9]+', '-', case.name)}{ending}"

    def verdicts(self, case):
        document = self.file(case, ".json")
        document.write_text(json.dumps(case.document))
        self.file(case, ".cu").write_text(case.text)
        try:
            wanted = launches(self.wavecast.answers("rank", document, "-d", self.given.device, *STEPS)[0])
        except Refused as refused:
            return [(case.name, Refused(f"the adapter's document: {refused}"), [])]
        self.size = {f["name"]: f["bytes"] for f in self.wavecast.answers("check", document)[0]["fields"]}
        found = []
        for (variant, block, fold), (config, volumes) in wanted.items():
            what = f"{case.name} block {block}"
            try:
                read = self.read(case, case.text, block, config)
                at = places(block, config["grid"])
                sizes = ["--block", ",".join(map(str, block))]
                one = touches(self.wavecast, at, document, *sizes, "--fold", ",".join(map(str, fold)))
                other = touches(self.wavecast, at, self.file(case, ".yaml"), *sizes)
                rolled = lambda: self.read(case, rolled_up(case.text), block, config)
                found.append((what, *verdict(volumes, read, one, other, [("unrolled", rolled)])))
            except Refused as refused:
                found.append((what, refused, []))
        return found

    def read(self, case, text, block, config):
        ptx, document = self.file(case, ".ptx"), self.file(case, ".yaml")
        ptx.write_text(self.nvrtc.compile(text, case.name, 80))
        launch = ["--block", ",".join(map(str, block)), "--grid", ",".join(map(str, config["grid"]))]
        given = [*launch, "--registers", config["registers"], *case.arguments(self.size)]
        document.write_text(self.wavecast.text("read", ptx, "--entry", case.entry, *given, "--format", "table"))
        answer = self.wavecast.answers("rank", document, "-d", self.given.device, *STEPS)[0]
        return next(iter(launches(answer).values()))[1]


# pystencils


def pystencils_cases():
    import pystencils as ps
    import sympy as sp
    from pystencils.codegen.config import GpuIndexingScheme as Scheme
    from wavecast import pystencils as adapter

    shapes = {1: (4000,), 2: (300, 90), 3: (70, 34, 20)}
    blocks = {1: [[64], [128], [96]], 2: [[32, 4], [16, 16], [64, 1]], 3: [[32, 2, 2], [8, 8, 4], [128, 1, 1]]}

    def field(name, dim, dtype="double", layout="fzyx", **more):
        return ps.Field.create_fixed_size(name, shapes[dim], layout=layout, dtype=dtype, **more)

    def vector(name, dim, n, layout="fzyx", dtype="double"):
        return ps.Field.create_fixed_size(name, (*shapes[dim], n), layout=layout, dtype=dtype, index_dimensions=1)

    def case(name, assignments, dim, options=None, scheme=Scheme.Linear3D, fixed=False, **config):
        made = ps.CreateKernelConfig(target=ps.Target.CUDA, **config)
        made.gpu.indexing_scheme = scheme
        kernel = ps.create_kernel(assignments, made)
        flat = scheme in (Scheme.Linear1D, Scheme.GridstridedLinear1D)
        chosen = {} if fixed else {"blocks": blocks[1] if flat else blocks[dim]}
        document = adapter.document(kernel, **chosen, **(options or {}))
        values = {}
        for parameter in kernel.parameters:
            for given in parameter.properties:
                if hasattr(given, "coordinate"):
                    key = "shape" if type(given).__name__ == "FieldShape" else "strides"
                    values[parameter.name] = document["fields"][given.field.name][key][given.coordinate]
        return Case(f"pystencils {name}", document, kernel.get_c_code(), kernel.name, values)

    def star(a, dim, radius):
        at = [tuple(s * (d == e) for e in range(dim)) for d in range(dim) for r in range(1, radius + 1) for s in (r, -r)]
        return sum(a[i] for i in [(0,) * dim, *at])

    def box(a, dim):
        return sum(a[i] for i in itertools.product((-1, 0, 1), repeat=dim))

    for dim, radius, dtype in itertools.product((1, 2, 3), (1, 4), ("float32", "float64")):
        a, b = field("a", dim, dtype), field("b", dim, dtype)
        source = [ps.Assignment(b[(0,) * dim], star(a, dim, radius))]
        yield lambda s=source, n=f"star{dim}d r{radius} {dtype}", d=dim, r=radius, t=dtype: case(
            n, s, d, ghost_layers=r, default_dtype=t
        )
    for dim in (2, 3):
        a, b, c = (field(n, dim) for n in "abc")
        here = (0,) * dim
        yield lambda a=a, b=b, d=dim, h=here: case(f"box{d}d", [ps.Assignment(b[h], box(a, d))], d, ghost_layers=1)
        yield lambda a=a, b=b, c=c, d=dim, h=here: case(
            f"coefficients{d}d", [ps.Assignment(b[h], c[h] * star(a, d, 1))], d, ghost_layers=1
        )
        for scheme in (Scheme.Linear1D, Scheme.GridstridedLinear1D, Scheme.GridstridedLinear3D, Scheme.Blockwise4D):
            fixed = scheme in (Scheme.Blockwise4D,)
            yield lambda a=a, b=b, d=dim, h=here, s=scheme, f=fixed: case(
                f"{s.name} {d}d", [ps.Assignment(b[h], star(a, d, 1))], d, scheme=s, fixed=f, ghost_layers=1
            )
    a, b = field("a", 3), field("b", 3)
    x, y, z = ps.DEFAULTS.spatial_counters
    steps = (slice(2, -2), slice(1, -1, 3), slice(None, None, 2))
    yield lambda: case("slices with steps", [ps.Assignment(b[0, 0, 0], a[0, 0, 0])], 3, iteration_slice=steps)
    yield lambda: case("plane", [ps.Assignment(b[0, 0, 0], a[1, 0, 0])], 3, iteration_slice=(slice(1, -1), slice(None), 7))
    wall = sp.Piecewise((a[1, 0, 0], sp.And(x > 5, z <= 3)), (a[-1, 0, 0], True))
    yield lambda: case("piecewise", [ps.Assignment(b[0, 0, 0], wall)], 3, ghost_layers=1)
    upwind = sp.Piecewise((a[1, 0, 0], a[0, 0, 0] > 0), (a[-1, 0, 0], True))
    yield lambda: case("upwind", [ps.Assignment(b[0, 0, 0], upwind)], 3, ghost_layers=1)
    inplace = [ps.Assignment(a[0, 0, 0], a[0, 0, 0] + b[0, 0, 0])]
    yield lambda: case("axpy", inplace, 3, ghost_layers=0)
    for layout in ("fzyx", "zyxf", "c"):
        v, s = vector("v", 3, 3, layout), field("s", 3, layout="c" if layout == "c" else "fzyx")
        gradient = [ps.Assignment(v(i), s[tuple(int(i == d) for d in range(3))] - s[0, 0, 0]) for i in range(3)]
        yield lambda g=gradient, n=layout: case(f"gradient {n}", g, 3, ghost_layers=1)
    p, q = (ps.Field.create_generic(n, 3, layout="fzyx") for n in "pq")
    given = {"options": {"shape": (70, 34, 20)}}
    yield lambda: case("symbolic sizes", [ps.Assignment(q[0, 0, 0], star(p, 3, 2))], 3, ghost_layers=2, **given)


def lbmpy_cases():
    import lbmpy
    import pystencils as ps
    import sympy as sp
    from lbmpy import LBMConfig, LBMOptimisation, LBStencil, Method, Stencil
    from lbmpy.advanced_streaming import Timestep
    from wavecast import lbmpy as adapter

    blocks = {2: [[64, 1], [32, 4]], 3: [[64, 1, 1], [16, 4, 2]]}

    def case(name, stencil, layout="fzyx", dtype="float64", **more):
        stencil = LBStencil(stencil)
        shape = (60, 30, 20)[: stencil.D]
        source, target = (
            ps.Field.create_fixed_size(n, (*shape, stencil.Q), layout=layout, dtype=dtype, index_dimensions=1)
            for n in ("src", "dst")
        )
        config = LBMConfig(stencil=stencil, **{"relaxation_rate": sp.Symbol("omega"), **more})
        optimisation = LBMOptimisation(symbolic_field=source, symbolic_temporary_field=target)
        rule = lbmpy.create_lb_update_rule(lbm_config=config, lbm_optimisation=optimisation)
        made = ps.CreateKernelConfig(target=ps.Target.CUDA, ghost_layers=1, default_dtype=dtype)
        kernel = adapter.kernel(rule, made)
        document = adapter.document(kernel, blocks=blocks[stencil.D])
        return Case(f"lbmpy {name}", document, kernel.get_c_code(), kernel.name)

    for stencil, layout, dtype in itertools.product(("D2Q9", "D3Q15", "D3Q19", "D3Q27"), ("fzyx", "zyxf"), ("float32", "float64")):
        if layout == "fzyx" or dtype == "float32":
            yield lambda s=stencil, l=layout, d=dtype: case(f"{s} {l} {d}", Stencil[s], l, d)
    for pattern in ("push", "pull"):
        yield lambda p=pattern: case(f"D3Q19 {p}", Stencil.D3Q19, streaming_pattern=p)
    for pattern, step in itertools.product(("aa", "esotwist", "esopull"), ("EVEN", "ODD")):
        yield lambda p=pattern, t=step: case(f"D2Q9 {p} {t.lower()}", Stencil.D2Q9, streaming_pattern=p, timestep=Timestep[t])
    for method in ("TRT", "MRT", "CENTRAL_MOMENT", "CUMULANT"):
        yield lambda m=method: case(f"D2Q9 {m}", Stencil.D2Q9, method=Method[m], compressible=m == "CUMULANT")


def loopy_cases():
    import islpy
    import loopy as lp
    import numpy as np
    from wavecast import loopy as adapter

    # loopy 2025.2 asks for what islpy no longer has, when it emits loops with several bounds.
    if not hasattr(islpy.Aff, "is_equal"):
        islpy.Aff.is_equal = islpy.Aff.plain_is_equal

    def array(names, *shape, dtype=np.float64, **more):
        return lp.GlobalArg(names, dtype, shape=shape, **more)

    def program(domain, instructions, arrays, splits=(), unrolled=()):
        built = lp.make_kernel(domain, instructions, arrays, lang_version=(2018, 2), target=lp.CudaTarget())
        for iname, size, group, local in splits:
            built = lp.split_iname(built, iname, size, outer_tag=group, inner_tag=local)
        return lp.tag_inames(built, {iname: "unr" for iname in unrolled})

    def case(name, built):
        return Case(f"loopy {name}", adapter.document(built), lp.generate_code_v2(built).device_code(), "loopy_kernel")

    def matmul(n, bx, by, step, order="C", prefetch=False, dtype=np.float64):
        splits = [("i", by, "g.1", "l.1"), ("j", bx, "g.0", "l.0"), ("k", step, None, None)]
        arrays = [array("a,b,c", n, n, order=order, dtype=dtype)]
        built = program(f"{{[i,j,k]: 0<=i,j,k<{n}}}", "c[i,j] = sum(k, a[i,k]*b[k,j])", arrays, splits)
        if prefetch:
            built = lp.add_prefetch(built, "a", ["k_inner", "i_inner"], default_tag="l.auto")
            built = lp.add_prefetch(built, "b", ["j_inner", "k_inner"], default_tag="l.auto")
            built = lp.add_inames_for_unused_hw_axes(built)
        return built

    def stencil(n, bx, by, tile):
        splits = [("i", by, "g.1", "l.1"), ("j", bx, "g.0", "l.0")]
        instruction = "o[i,j] = u[i+1,j] + u[i-1,j] + u[i,j+1] + u[i,j-1]"
        built = program(f"{{[i,j]: 1<=i,j<{n - 1}}}", instruction, [array("u,o", n, n)], splits)
        if tile:
            built = lp.add_prefetch(built, "u", ["i_inner", "j_inner"], fetch_bounding_box=True, default_tag="l.auto")
        return built

    for n, step, order, prefetch in ((64, 16, "C", 0), (64, 16, "F", 0), (50, 16, "C", 0), (48, 5, "C", 0), (64, 16, "C", 1), (50, 16, "C", 1), (64, 16, "F", 1)):
        yield lambda n=n, s=step, o=order, p=prefetch: case(
            f"matmul {n} {s} {o}{' tiled' if p else ''}", matmul(n, 16, 16, s, o, bool(p))
        )
    yield lambda: case("matmul f32 32x4", matmul(128, 32, 4, 8, dtype=np.float32))
    for n, bx, by, tile in ((66, 16, 4, 0), (61, 16, 4, 0), (130, 32, 8, 0), (66, 16, 4, 1), (61, 16, 4, 1), (130, 32, 8, 1)):
        yield lambda n=n, x=bx, y=by, t=tile: case(f"stencil {n} {x}x{y}{' tiled' if t else ''}", stencil(n, x, y, t))
    line = lambda n: [("i", n, "g.0", "l.0")]
    simple = {
        "axpy": ("{[i]: 0<=i<10000}", "y[i] = 2*x[i] + y[i]", [array("x,y", 10000)], line(128)),
        "axpy f32": ("{[i]: 0<=i<9999}", "y[i] = 2*x[i] + y[i]", [array("x,y", 9999, dtype=np.float32)], line(256)),
        "transpose": ("{[i,j]: 0<=i,j<100}", "b[i,j] = a[j,i]", [array("a,b", 100, 100)], [("j", 32, "g.0", "l.0"), ("i", 8, "g.1", "l.1")]),
        "row sums": ("{[i,j]: 0<=i<500 and 0<=j<70}", "b[i] = sum(j, a[i,j])", [array("a", 500, 70), array("b", 500)], line(64)),
        "column sums": ("{[i,j]: 0<=i<500 and 0<=j<70}", "b[i] = sum(j, a[j,i])", [array("a", 70, 500), array("b", 500)], line(64)),
        "triangle": ("{[i,j]: 0<=i<64 and i<=j<64}", "y[i,j] = x[j,i]", [array("x,y", 64, 64)], [("j", 16, "g.0", "l.0"), ("i", 8, "g.1", "l.1")]),
        "triangular sum": ("{[i,j]: 0<=i<64 and i<=j<64}", "y[i] = sum(j, x[i,j])", [array("x", 64, 64), array("y", 64)], line(32)),
        "choices": ("{[i]: 0<=i<1000}", ["y[i] = if(i > 5, x[i], x[i+100]) {if=i>3}", "z[i] = 0 {if=i%2==0}"], [array("x", 2000), array("y,z", 1000)], line(32)),
        "quotients": ("{[i]: 0<=i<100}", "y[i] = x[(i+1) % 100] + z[i//3]", [array("x", 100), array("z", 60), array("y", 100)], line(32)),
        "strided": ("{[i]: 0<=i<1000}", "y[2*i] = x[3*i+1]", [array("x", 3001), array("y", 2000)], line(64)),
        "convolution": ("{[i,j]: 0<=i<1000 and 0<=j<9}", "y[i] = sum(j, x[i+j]*w[j])", [array("x", 1008), array("w", 9), array("y", 1000)], line(64)),
        "outer product": ("{[i,j]: 0<=i,j<90}", "c[i,j] = a[i]*b[j]", [array("a,b", 90), array("c", 90, 90)], [("j", 32, "g.0", "l.0"), ("i", 4, "g.1", "l.1")]),
        "backwards": ("{[i]: 0<=i<1000}", "y[i] = x[999-i]", [array("x,y", 1000)], line(64)),
        "batched": ("{[b,i,j]: 0<=b<7 and 0<=i,j<20}", "c[b,i,j] = a[b,j,i]", [array("a,c", 7, 20, 20)], [("j", 16, "g.0", "l.0"), ("i", 4, "g.1", "l.1"), ("b", 1, "g.2", "l.2")]),
    }
    for name, parts in simple.items():
        yield lambda n=name, p=parts: case(n, program(*p))
    unrolled = lambda n: lp.split_iname(program("{[i]: 0<=i<1024}", "y[i] = x[i]", [array("x,y", 1024)]), "i", n, inner_tag="unr")
    for n in (2, 4):
        yield lambda n=n: case(f"unrolled by {n}", lp.split_iname(unrolled(n), "i_outer", 64, outer_tag="g.0", inner_tag="l.0"))


def devito_cases():
    import devito
    import numpy as np
    from devito import Eq, Function, Grid, TimeFunction, solve
    from wavecast import devito as adapter

    def values_of(built, time=6):
        values = {}
        for function in built.parameters:
            if hasattr(function, "shape_allocated"):
                for d, n in enumerate(function.shape_allocated):
                    values[f"{function.name}_vec->size[{d}]"] = int(n)
                for dimension, size in zip(function.dimensions, function.shape):
                    for of in (dimension, dimension.root):
                        names = (of.symbolic_min.name, of.symbolic_max.name, of.symbolic_size.name)
                        values.update({n: v for n, v in zip(names, (0, int(size) - 1, int(size))) if v is not None})
        for dimension in built.dimensions:
            if dimension.is_Sub:
                values.update({t.name: int(t.value) for t in dimension.thickness if t.value is not None})
        return {**values, "time": time}

    def kernels(text, values):
        """Each parallel nest as a kernel: its own body, the collapsed loops as threads."""
        numbers = {k: v for k, v in values.items() if "->" not in k}

        def said(expression):
            for name, value in values.items():
                expression = expression.replace(name, str(value)) if "->" in name else expression
            return re.sub(r"\b[a-z]\w*\b", lambda m: str(numbers.get(m[0], m[0])), expression)

        views = re.findall(r"^ *(float|double|int) \(\*__restrict (\w+)\)((?:\[[^=]*?\])+) __attribute__", text, re.M)
        lines = re.findall(r"^ *(float|double|int) \*__restrict (\w+)(?: __attribute__[^=]*)? = .*?;", text, re.M)
        steps = re.search(r"for \(int time = time_m((?:, t\w+ = [^;,]*)*);", text)
        steps = re.findall(r"(t\w+) = ([^;,]*)", steps[1]) if steps else []
        for number, found in enumerate(re.finditer(r"#pragma acc parallel loop (?:collapse\((\d)\))?[^\n]*\n", text)):
            depth, at = int(found[1] or 1), found.end()
            bounds = []
            for _ in range(depth):
                loop = re.compile(r"\s*for \(int (\w+) = ([^;]*); \w+ <= ([^;]*); \w+ \+= 1\)\s*\{").match(text, at)
                bounds.append(loop.groups())
                at = loop.end()
            opened, end = 1, at
            while opened:
                opened += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            body = text[at : end - 1]
            used = [(k, n, "".join(f"[{said(e)}]" for e in re.findall(r"\[([^\[\]]*(?:\[\d\])?)\]", d))) for k, n, d in views if re.search(rf"\b{n}\[", body)]
            used += [(k, n, None) for k, n in lines if re.search(rf"\b{n}\[", body)]
            scalars = sorted(set(re.findall(r"\b(r\d+|dt|h_\w)\b", body)) - set(re.findall(r"(?:float|double) (r\d+) =", body)) - {n for _, n, _ in used})
            real = "double" if "double" in {k for k, _, _ in used} else "float"
            parameters = [f"{k} *__restrict__ {n}_" for k, n, _ in used] + [f"{real} {n}" for n in scalars]
            code = [f'extern "C" __global__ void nest{number}({", ".join(parameters)})', "{"]
            code += [f"  {k} (*{n}){d} = ({k} (*){d}) {n}_;" if d else f"  {k} *{n} = {n}_;" for k, n, d in used]
            code += [f"  const int {n} = {said(e)};" for n, e in steps if re.search(rf"\b{n}\b", body)]
            for d, (name, first, last) in zip("xyz", reversed(bounds)):
                code.append(f"  const int {name} = {said(first)} + (int) (blockIdx.{d} * blockDim.{d} + threadIdx.{d});")
                code.append(f"  if ({name} > {said(last)}) return;")
            yield f"nest{number}", "\n".join([*code, body, "}"])

    def cases(name, *equations, **more):
        built = devito.Operator(list(equations), platform="nvidiaX", language="openacc", **more)
        documents = adapter.documents(built)
        blocks = {1: [[64], [128]], 2: [[32, 4], [16, 8]], 3: [[32, 4, 1], [8, 4, 4]]}
        for document, (entry, text) in zip(documents, kernels(str(built.ccode), values_of(built)), strict=True):
            document["launch"] = {"block": blocks[len(document["domain"])]}
            yield Case(f"Devito {name} {entry}", document, text, entry)

    def acoustic(order, dtype=np.float32, shape=(40, 34, 36), **more):
        grid = Grid(shape=shape, dtype=dtype)
        u = TimeFunction(name="u", grid=grid, space_order=order, time_order=2)
        m, damp = Function(name="m", grid=grid, space_order=order), Function(name="damp", grid=grid)
        return cases(
            f"acoustic {len(shape)}d so{order} {np.dtype(dtype)}{' noop' if more else ''}",
            Eq(u.forward, solve(m * u.dt2 - u.laplace + damp * u.dt, u.forward)), **more,
        )

    def elastic(order):
        grid = Grid(shape=(30, 34, 36), dtype=np.float32)
        v = devito.VectorTimeFunction(name="v", grid=grid, space_order=order, time_order=1)
        tau = devito.TensorTimeFunction(name="tau", grid=grid, space_order=order, time_order=1)
        lam, mu, ro = (Function(name=n, grid=grid, space_order=order) for n in ("lam", "mu", "ro"))
        step = grid.stepping_dim.spacing
        shear = devito.grad(v.forward) + devito.grad(v.forward).transpose(inner=False)
        stress = tau + step * (lam * devito.diag(devito.div(v.forward)) + mu * shear)
        return cases(f"elastic so{order}", Eq(v.forward, v + step * ro * devito.div(tau)), Eq(tau.forward, stress))

    def diffusion(order, shape):
        grid = Grid(shape=shape, dtype=np.float64)
        u, a = TimeFunction(name="u", grid=grid, space_order=order), Function(name="a", grid=grid)
        return cases(f"diffusion {len(shape)}d so{order}", Eq(u.forward, u + a * u.laplace))

    for order, dtype in itertools.product((4, 8, 16), (np.float32, np.float64)):
        yield lambda o=order, d=dtype: acoustic(o, d)
    yield lambda: acoustic(8, shape=(400,))
    yield lambda: acoustic(8, shape=(90, 110))
    yield lambda: acoustic(4, opt="noop")
    for order in (4, 8):
        yield lambda o=order: elastic(o)
    for order, shape in ((2, (500,)), (2, (120, 130)), (4, (120, 130)), (2, (40, 30, 50)), (6, (40, 30, 50))):
        yield lambda o=order, s=shape: diffusion(o, s)


GENERATORS = {"pystencils": pystencils_cases, "lbmpy": lbmpy_cases, "loopy": loopy_cases, "devito": devito_cases}


def main():
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("wavecast")
    given.add_argument("folder", type=pathlib.Path)
    given.add_argument("--only", choices=GENERATORS, action="append")
    given.add_argument("--device", default="a100")
    given = given.parse_args()
    roads, table = Roads(given), Table("kernel")
    for name in given.only or GENERATORS:
        try:
            made = list(GENERATORS[name]())
        except ImportError as missing:
            print(f"{name}: left out, {missing}")
            continue
        for build in made:
            built = build()
            for case in [built] if isinstance(built, Case) else built:
                table.row(case.name, roads.verdicts(case))
    sys.exit(table.end())


if __name__ == "__main__":
    main()
