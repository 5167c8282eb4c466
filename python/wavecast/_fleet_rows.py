"""Results of a fleet as rows, which are the same columns of the same types in every part."""

from __future__ import annotations

import io
import json
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Iterator, Mapping

from . import _rows
from ._api import rank
from ._errors import KernelError, error
from ._results import Refusal
from ._wavecast import __version__

if TYPE_CHECKING:
    import pyarrow

Row = dict[str, Any]
#: Columns and their types in the words of Arrow, a list of texts as "texts".
COLUMNS = {
    "job": "int64",
    "id": "string",
    "kernel": "string",
    "device": "string",
    "variant": "string",
    "rank": "int32",
    "tie_group": "int32",
    **{f"{shape}_{axis}": "int32" for shape in ("block", "fold") for axis in "xyz"},
    "time_s": "float64",
    "time_low_s": "float64",
    "time_high_s": "float64",
    "rate_per_s": "float64",
    "relative": "float64",
    "limiter": "string",
    "l2_load": "float64",
    "dram_load": "float64",
    "dram_store": "float64",
    "warnings": "texts",
    "error_code": "string",
    "error_message": "string",
    "error_help": "string",
}


def answers(sent: bytes) -> list[Row]:
    """The rows of a chunk. What goes wrong with a job is its row."""
    chunk = json.loads(zlib.decompress(sent))
    if chunk["wavecast"] != __version__:
        raise RuntimeError(
            f"this worker has Wavecast {__version__}, and who sends it jobs has {chunk['wavecast']}: "
            "install the same version on all machines"
        )
    rows: list[Row] = []
    for place, job in enumerate(chunk["jobs"]):
        kernel = None if job["text"] is None else chunk["texts"][job["text"]]
        about = {"job": chunk["first"] + place, "id": job["id"]}
        rows += [about | row for row in _answer(job, kernel)]
    return rows


def lost(job: int, id: str) -> Row:
    """The row of a job at which workers died."""
    help = "see the logs of the workers; often they had too little memory. Leave the job out, or ask it by itself"
    return {"job": job, "id": id} | _failed(
        error("worker-lost", "the worker died at this job, each time it was tried", help)
    )


def encoded(rows: list[Row]) -> bytes:
    """A Parquet file, which depends only on the rows and on the version of pyarrow."""
    import pyarrow
    import pyarrow.parquet

    columns = {name: [row.get(name) for row in rows] for name in COLUMNS}
    columns["warnings"] = [found or [] for found in columns["warnings"]]
    file = io.BytesIO()
    table = pyarrow.table(columns, schema=schema())
    pyarrow.parquet.write_table(table, file, compression="zstd", row_group_size=1 << 20)
    return file.getvalue()


@lru_cache(maxsize=1)
def schema() -> pyarrow.Schema:
    """The columns as Arrow has them."""
    import pyarrow

    kinds = {kind: getattr(pyarrow, kind)() for kind in set(COLUMNS.values()) - {"texts"}}
    kinds["texts"] = pyarrow.list_(pyarrow.string())
    needed = ("job", "id")
    return pyarrow.schema([pyarrow.field(n, kinds[k], nullable=n not in needed) for n, k in COLUMNS.items()])


def _answer(job: Mapping[str, Any], kernel: Any) -> list[Row]:
    """The rows of one job."""
    if kernel is None:
        return [_failed(job["error"])]
    (source, text), device = kernel, job["device"]
    # Rows of errors name the device as the job does.
    names = device if isinstance(device, list) else [device]
    try:
        found = rank(json.loads(text) if source == "kernel" else text, device, **job["options"])
    except KernelError as why:
        wrong = why.errors[0]
    except (TypeError, ValueError) as why:
        wrong = error("bad-job", str(why))
    except Exception as why:
        wrong = error("failed", f"{type(why).__name__}: {why}")
    else:
        each = enumerate(found if isinstance(found, list) else [found])
        return [{"device": names[n % len(names)]} | row for n, one in each for row in _ranked(one)]
    return [{"device": names[0] if len(names) == 1 else None} | _failed(wrong)]


def _ranked(ranking: Mapping[str, Any]) -> Iterator[Row]:
    """The launches of a ranking."""
    if isinstance(ranking, Refusal):
        yield _failed(ranking["errors"][0])
        return
    about = _rows.whose(ranking)
    if not ranking["results"]:
        reasons = [one.get("reason") for one in ranking["infeasible"][:1]]
        told = f": {reasons[0]}" if reasons and reasons[0] else ""
        yield about | _failed(error("no-launch", f"no launch of this kernel can run{told}"))
    for result in ranking["results"]:
        config, volumes = result["config"], result["volumes"]
        codes = dict.fromkeys(warning["code"] for warning in (*ranking["warnings"], *result["warnings"]))
        low, high = result["confidence"]["time_interval_s"]
        same = ("rank", "tie_group", "time_s", "rate_per_s", "relative", "limiter")
        yield about | {name: result[name] for name in same} | _rows.axes(config, ("block", "fold")) | {
            "variant": config["variant"],
            "time_low_s": low,
            "time_high_s": high,
            "l2_load": volumes["l2"]["load"]["total"],
            "dram_load": volumes["dram"]["load"]["total"],
            "dram_store": volumes["dram"]["store"]["total"],
            "warnings": list(codes),
        }


def _failed(wrong: Mapping[str, Any]) -> Row:
    said = wrong["message"]
    if wrong.get("line") is not None:
        column = "" if wrong.get("column") is None else f":{wrong['column']}"
        said = f"{wrong['file']}:{wrong['line']}{column}: {said}"
    return {"error_code": wrong["code"], "error_message": said, "error_help": wrong["help"]}
