"""A document against the text that its generator emits: random threads touch the same elements in both."""

import random

import emitted
import wavecast

THREADS = 8


def assert_threads_agree(document, code, arguments, seed, blocks=((8, 4, 2), (32, 2, 1)), names=None):
    """Random threads, the first one, and some of the last block, of several launches."""
    kernel, chance = emitted.function(code), random.Random(seed)
    rank = len(document["domain"])
    extents = [*(n for axis in document["domain"] for n in axis.values()), 1, 1][:3]
    fold = [*document["launch"].get("fold", [[1]])[0], 1, 1][:3]
    given = document["launch"]["block"]
    sizes = {f["name"]: f["bytes"] // f["element_bytes"] for f in wavecast.check(document)["fields"]}
    touches = 0
    for shape in given if isinstance(given, list) else blocks:
        block = [*shape[:rank], 1, 1, 1][:3]
        grid = [-(-n // (b * f)) for n, b, f in zip(extents, block, fold)]
        for i in range(THREADS):
            place = [0, 0, 0] if i < 2 else [n - 1 for n in grid] if i < 4 else [chance.randrange(n) for n in grid]
            thread = [chance.randrange(n) if i else 0 for n in block]
            found = emitted.thread(kernel, arguments, block, grid, place, thread)
            wanted = {(kind, (names or {}).get(f, f)): elements for (kind, f), elements in found.items()}
            touched = wavecast.touches(document, block, fold, block_index=place, thread=thread)
            assert touched == wanted, (block, place, thread, code)
            assert all(0 <= e[0] and e[-1] < sizes[field] for (_, field), e in touched.items())
            touches += len(touched)
    assert touches, "no thread touched anything"
    assert not isinstance(given, list) or wavecast.rank(document, "a100")["summary"]["candidates"]
