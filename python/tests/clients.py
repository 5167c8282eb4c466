"""The documents of tests/clients, which were held against what the generators emitted: an adapter that is
given the same kernel has to come to the same addresses."""

import json
import random
from pathlib import Path

import wavecast

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "clients"
GOLDEN = json.loads((FOLDER / "golden.json").read_text())
#: Random threads besides those of golden.json.
THREADS = 40


def assert_same_as_client(document, name, rename=None):
    """The document touches what the generator's kernel touches, thread by thread, in arrays laid out alike."""
    client = FOLDER / f"{name}.yaml"
    facts = GOLDEN[name]
    understood = wavecast.check(document)
    fields = {f["name"]: f for f in understood["fields"]}
    for field, (size, offset, align, strides) in facts["fields"].items():
        mine = fields[(rename or {}).get(field, field)]
        # Strides are listed fastest first in the facts.
        assert sorted(map(int, mine["strides"])) == sorted(strides), field
        assert (mine["element_bytes"], mine["offset_bytes"], mine["align"]) == (size, offset, align), field
    theirs = wavecast.check(client)
    assert understood["kernel"]["domain"] == theirs["kernel"]["domain"]
    for fact in facts["threads"]:
        found = touched(document, fact["block_shape"], theirs, fact["block"], fact["thread"])
        summed = {f"{k} {f}": [len(e), e[0], e[-1], sum(e)] for (k, f), e in found.items()}
        assert summed == fact["touched"], (name, fact)
    chance = random.Random(name)
    shapes = [fact["block_shape"] for fact in facts["threads"]]
    for _ in range(THREADS):
        block = chance.choice(shapes)
        fold = theirs["folds"][0]["fold"]
        extents = [*theirs["kernel"]["domain"], 1, 1][:3]
        grid = [-(-n // (b * f)) for n, b, f in zip(extents, block, fold)]
        place = [chance.randrange(n) for n in grid]
        thread = [chance.randrange(n) for n in block]
        wanted = wavecast.touches(client, block, fold, block_index=place, thread=thread)
        assert touched(document, block, theirs, place, thread) == wanted, (name, block, place, thread)


def touched(document, block, client, place, thread):
    fold = client["folds"][0]["fold"]
    return wavecast.touches(document, block, fold, block_index=place, thread=thread)
