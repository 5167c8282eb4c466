"""Runs the C, CUDA or OpenACC text that a generator emits, for one thread or work item, and says which elements
it touches: the other side of what an adapter's document says. Values of arrays are all 1."""

import math
import operator
import re

from pycparser import c_ast, c_parser

INTEGERS = {"int", "long", "short", "char", "int64_t", "int32_t", "uint32_t", "bool"}
TYPES = " ".join(f"typedef {kind} {name};" for kind, name in (("long", "int64_t"), ("int", "int32_t"), ("int", "bool")))
#: What is no C: macros, attributes, casts and qualifiers of C++ and CUDA.
NOT_C = (
    (r"//[^\n]*|/\*.*?\*/", " "),
    (r"(?m)^\s*#(?!pragma)(?:[^\n]*\\\n)*[^\n]*$", ""),
    (r"(?m)^\s*(?:START|STOP|LOOPY_\w+)\(.*\)\s*$", ""),
    (r"__launch_bounds__\s*\([^)]*\)|__attribute__\s*\(\(aligned \(\d+\)\)\)|extern \"C\"|std::", ""),
    (r"\b(?:__global__|__device__|__shared__|__restrict(?:__)?|RESTRICT)", ""),
    (r"\bstatic_cast<([^<>]*)>\s*\(", r"(\1)("),
)
BINARY = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "%": math.fmod, "<<": operator.lshift},
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq},
    **{"!=": operator.ne, ">>": operator.rshift, "&": operator.and_},
}


class Pointer:
    """A place in an array; ``dims`` are the extents of the dimensions that are still to be indexed."""

    def __init__(self, name, dims=(), offset=0):
        self.name, self.dims, self.offset = name, dims, offset


def function(text, name=None):
    """A function of the text, the last one by default."""
    for pattern, replacement in NOT_C:
        text = re.sub(pattern, replacement, text, flags=re.S if "/\\*" in pattern else 0)
    found = [e for e in c_parser.CParser().parse(TYPES + text).ext if isinstance(e, c_ast.FuncDef)]
    return next(f for f in reversed(found) if name in (None, f.decl.name))


def thread(kernel, arguments, block, grid, block_index, thread_index):
    """What a thread of a CUDA kernel touches: sorted elements by kind and array."""
    values = {p.name: Pointer(p.name) for p in kernel.decl.type.args.params if isinstance(p.type, c_ast.PtrDecl)}
    values = {**{p.name: 1.0 for p in kernel.decl.type.args.params}, **values, **arguments}
    for position, d in enumerate("xyz"):
        values[f"threadIdx.{d}"], values[f"blockIdx.{d}"] = thread_index[position], block_index[position]
        values[f"blockDim.{d}"], values[f"gridDim.{d}"] = block[position], grid[position]
    run = Run(values)
    run.do(kernel.body)
    return run.sorted()


class Run:
    """Runs statements."""

    def __init__(self, values):
        self.values, self.touched = values, {}

    def sorted(self):
        return {key: sorted(elements) for key, elements in self.touched.items()}

    def touch(self, kind, place):
        self.touched.setdefault((kind, place.name.removeprefix("_data_")), set()).add(int(place.offset))
        return 1.0

    # Statements

    def do(self, node):
        if node is None:
            return
        statement = getattr(self, f"do_{type(node).__name__}", None)
        if statement:
            statement(node)
        else:
            self.value(node)

    def do_Compound(self, node):
        for item in node.block_items or []:
            self.do(item)

    def do_DeclList(self, node):
        for declaration in node.decls:
            self.do(declaration)

    def do_Decl(self, node):
        kind = node.type
        if isinstance(kind, (c_ast.ArrayDecl, c_ast.PtrDecl)):
            inner, dims = kind if isinstance(kind, c_ast.ArrayDecl) else kind.type, []
            while isinstance(inner, c_ast.ArrayDecl):
                dims.append(self.value(inner.dim))
                inner = inner.type
            self.values[node.name] = Pointer(node.name, tuple(dims[isinstance(kind, c_ast.ArrayDecl) :]))
        elif node.init is not None:
            value = self.value(node.init)
            self.values[node.name] = int(value) if INTEGERS & set(kind.type.names) else value

    def do_If(self, node):
        self.do(node.iftrue if self.value(node.cond) else node.iffalse)

    def do_For(self, node):
        self.do(node.init)
        while self.value(node.cond):
            self.do(node.stmt)
            self.do(node.next)

    def do_Pragma(self, node):
        pass

    def do_Return(self, node):
        pass

    def do_EmptyStatement(self, node):
        pass

    # Expressions

    def value(self, node):
        return getattr(self, f"value_{type(node).__name__}")(node)

    def value_ID(self, node):
        return self.values[node.name]

    def value_Constant(self, node):
        return int(node.value.rstrip("uUlL"), 0) if "int" in node.type else float(node.value.rstrip("fFlL"))

    def value_Cast(self, node):
        value = self.value(node.expr)
        names = set(getattr(node.to_type.type.type, "names", ()))
        return int(value) if INTEGERS & names and not isinstance(value, Pointer) else value

    def value_StructRef(self, node):
        return self.values[f"{node.name.name}.{node.field.name}"]

    def value_ExprList(self, node):
        for expression in node.exprs:
            self.value(expression)

    def value_ArrayRef(self, node):
        if isinstance(node.name, c_ast.StructRef):
            return self.value(node.name)[self.value(node.subscript)]
        place = self.place(node)
        return place if place.dims is not None else self.touch("load", place)

    def place(self, node):
        base = self.place(node.name) if isinstance(node.name, c_ast.ArrayRef) else self.value(node.name)
        rest = base.dims[1:] if base.dims else None
        return Pointer(
            base.name, rest if base.dims else None, base.offset + self.value(node.subscript) * self.size(base)
        )

    @staticmethod
    def size(pointer):
        return math.prod(pointer.dims)

    def value_UnaryOp(self, node):
        if node.op in ("p++", "++"):
            self.values[node.expr.name] += 1
            return None
        if node.op == "&":
            return self.place(node.expr)
        value = self.value(node.expr)
        return {"-": -value, "+": value, "!": not value}[node.op]

    def value_BinaryOp(self, node):
        left = self.value(node.left)
        if node.op in ("&&", "||"):
            return self.value(node.right) if bool(left) == (node.op == "&&") else left
        right = self.value(node.right)
        if node.op == "/":
            whole = isinstance(left, int) and isinstance(right, int)
            return math.trunc(left / right) if whole else left / (right or 1.0)
        value = BINARY[node.op](left, right)
        return int(value) if node.op == "%" else value

    def value_TernaryOp(self, node):
        return self.value(node.iftrue if self.value(node.cond) else node.iffalse)

    def value_Assignment(self, node):
        value = self.value(node.rvalue)
        if isinstance(node.lvalue, c_ast.ID):
            value = value if node.op == "=" else BINARY[node.op[:-1]](self.value(node.lvalue), value)
            self.values[node.lvalue.name] = value
            return
        place = self.place(node.lvalue)
        if node.op != "=":
            self.touch("load", place)
        self.touch("store", place)

    def value_FuncCall(self, node):
        name, arguments = node.name.name, node.args.exprs if node.args else []
        if name in ("bIdx", "tIdx"):
            # Macros of loopy.
            return self.values[f"{'block' if name == 'bIdx' else 'thread'}Idx.{arguments[0].name}"]
        values = [self.value(a) for a in arguments]
        if name == "atomicAdd":
            return self.touch("atomic", values[0])
        if name.startswith("loopy_floor_div"):
            return values[0] // values[1]
        return 0.5


class Operator(Run):
    """A Devito operator: what each work item of a parallel nest touches, nest by nest, at one time step. Extents
    in ``values`` as the operator names them."""

    def __init__(self, values):
        super().__init__(values)
        self.nests, self.depth = [], 0

    def do_Pragma(self, node):
        if "acc parallel loop" in node.string:
            found = re.search(r"collapse\((\d)\)", node.string)
            self.depth = int(found[1]) if found else 1

    def do_For(self, node):
        if not self.depth:
            super().do_For(node)
            return
        depth, self.depth = self.depth, 0
        self.nests.append({})
        self.items(node, depth, ())

    def items(self, node, depth, item):
        self.do(node.init)
        name = node.init.decls[0].name
        while self.value(node.cond):
            value = self.values[name]
            if depth > 1:
                inner = [n for n in node.stmt.block_items if isinstance(n, c_ast.For)]
                self.items(inner[0], depth - 1, (*item, value))
            else:
                self.touched = {}
                self.do(node.stmt)
                self.nests[-1][(*item, value)] = self.sorted()
            self.values[name] = value
            self.do(node.next)

    def value_FuncCall(self, node):
        # The names of a device are known to its run time only.
        return 1 if node.name.name.startswith(("acc_", "posix_memalign", "free")) else super().value_FuncCall(node)
