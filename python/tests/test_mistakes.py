"""What people give by mistake: wrong names, types and numbers in each place of a question. Each is answered, or raises
what says what is wrong; nothing panics, nothing hangs."""

import ctypes
import math
import time
from pathlib import Path

import pytest
import wavecast
import wavecast.cuda
import wavecast.ptx
from wavecast.cuda import Array

SAXPY = Path(__file__).resolve().parents[2] / "tests" / "ptx" / "nvrtc" / "saxpy.ptx"
N = 1 << 20


class NeedsTwo(Exception):
    """An exception that cannot be made of a text alone."""

    def __init__(self, one, two):
        super().__init__(one, two)


def raises(_):
    raise NeedsTwo(1, 2)


ODD = [
    *(None, -1, 0, 1, 2**31, 2**40, 2**63, 2**64, 2**200, -(2**63), 1.5, math.nan, math.inf, 1e6, True, 1j, ...),
    *("", "n", "1+", "x:f32[0]", "x[", "--", "a" * 300, "\0", "é", b"abc", "ceil(n / blockDim.x)", "blockDim.x/0"),
    *("(" * 300, "1" * 400, [], [1], [None], (), (1,), (1, 2, 3, 4), {}, {"a": 1}, {0: 1}, {-1: 3}, {10**30: 1}),
    *(object(), object, raises, len, set(), range(5), slice(3), NotImplemented, ctypes.c_int(3)),
    *(Array(0), Array(2**40), Array((2**40, 2**40)), Array((8, 8), "float64")),
]
PLACES = {
    "number": lambda odd: dict(args={0: odd}),
    "pointer": lambda odd: dict(args={0: N, 2: odd}),
    "args": lambda odd: dict(args=odd),
    "grid": lambda odd: dict(grid=odd),
    "what the grid gives": lambda odd: dict(grid=lambda block: odd),
    "blocks": lambda odd: dict(blocks=odd),
    **{
        name: lambda odd, name=name: {name: odd}
        for name in ("device", "entry", "registers", "trips", "branch", "assume")
    },
    "top": lambda odd: dict(top=odd),
}


@pytest.mark.parametrize("place", PLACES)
def test_each_mistake_is_answered(place):
    answered = 0
    for odd in ODD:
        question = dict(args={0: N}, blocks=128, device="a100") | PLACES[place](odd)
        started = time.perf_counter()
        try:
            wavecast.cuda.rank(SAXPY, **question)
            answered += 1
        except (ValueError, TypeError, FileNotFoundError, RuntimeError) as error:
            said = str(error)
            assert isinstance(error.__cause__, NeedsTwo) == (type(error) is RuntimeError), (odd, said)
            assert 10 < len(said) < 1500, (odd, said)
            # Words of the command line and of the inside mean nothing here.
            assert (
                not any(word in said for word in ("--", "usize", "C long", "PyO3", "NoneType' object")) or odd == "--"
            ), said
        assert time.perf_counter() - started < 5, odd
    # Some of them are no mistakes, such as None where something may be left out.
    assert 0 < answered < len(ODD) - 20


@pytest.mark.parametrize(
    ("question", "kind", "says"),
    [
        (dict(args={0: 1.5}), ValueError, "argument saxpy_param_0: 1.5 is no whole number, but the parameter is u32"),
        (dict(args={0: N, 2: Array((2**40, 2**40))}), ValueError, "larger than any memory"),
        (dict(args={0: N, 2: {"a": 1}}), TypeError, "'a' is no byte of a struct"),
        (dict(args="n=3"), TypeError, r"give what the parameters get by name, as in dict\(n=1024\)"),
        (dict(args=[N, 2.0, None, None, 1]), wavecast.KernelError, "5 arguments for the 4 parameters"),
        (dict(grid="ceil(m / 3)"), wavecast.KernelError, "^grid: unknown name `m`"),
        (dict(grid=lambda b: N / b[0]), TypeError, r"8192.0 \(grid for the block \(128, 1, 1\)\) is no shape"),
        (dict(grid=lambda b: b[3]), IndexError, "out of range.*in the function grid, called with the block"),
        (dict(grid=raises), RuntimeError, r"NeedsTwo: .*called with the block \(128, 1, 1\)"),
        (dict(grid=0), ValueError, r"0 \(grid\) is no shape: give up to three numbers from 1"),
        (dict(blocks=[]), ValueError, "blocks is empty"),
        (dict(blocks=2**63), ValueError, "no device launches more than 2147483647"),
        (dict(blocks=[(32, 8), (64, 0)]), ValueError, r"\(64, 0\) is no shape"),
        (dict(blocks=2048), wavecast.KernelError, "more than 1024 threads"),
        (dict(device=80), TypeError, r"device=80: name a device.*wavecast.devices\(\)"),
        (dict(device="none/such.yaml"), FileNotFoundError, "none/such.yaml"),
        (dict(entry=3), TypeError, "entry=3: give the name of a kernel"),
        (dict(registers=300), ValueError, "registers=300.*from 1 to 255"),
        (dict(trips=40), TypeError, r"trips=40: give \{line: value"),
        (dict(trips={"for": 40}), TypeError, "'for' is no line"),
        (dict(branch={39: 1.5}), ValueError, "a probability is a number from 0 to 1"),
        (dict(branch={39: math.nan}), ValueError, "a probability is a number from 0 to 1"),
        (dict(trips={39: 9}, branch={39: 0.5}), ValueError, "trips says already how often the loop of line 39 runs"),
        (dict(assume={41: 3}), TypeError, "3 says nothing of line 41"),
        (dict(top="ten"), wavecast.KernelError, 'top: .*"ten"'),
        (dict(blocked=3), TypeError, "blocked"),
    ],
)
def test_a_mistake_is_named(question, kind, says):
    with pytest.raises(kind, match=says):
        wavecast.cuda.rank(SAXPY, **(dict(args={0: N}, blocks=128, device="a100") | question))


def test_whole_numbers_may_be_written_as_fractions():
    ask = dict(blocks=128, device="a100")
    assert wavecast.cuda.rank(SAXPY, {0: 1e6}, **ask) == wavecast.cuda.rank(SAXPY, {0: 10**6}, **ask)
