from typing import Sequence

__version__: str

class Session:
    def __init__(self) -> None: ...
    def ask(self, request: str) -> str: ...

class Ptx:
    def __init__(self, name: str, text: str) -> None: ...
    def entries(self) -> str: ...
    def blocks(self, entry: str, blocks: Sequence[Sequence[int]]) -> list[list[int]]: ...
    def read(
        self,
        entry: str,
        args: Sequence[str],
        blocks: Sequence[Sequence[int]],
        grid: str | None,
        grids: Sequence[Sequence[int]],
        trips: Sequence[str],
        branch: Sequence[str],
        assume: Sequence[str],
        registers: int | None,
    ) -> tuple[str, str | None]: ...
    def hold(
        self,
        entry: str,
        args: Sequence[str],
        document: str,
        threads: int,
        undecided: Sequence[tuple[str, str, int, bool]],
    ) -> str: ...

def device_target(name: str | None) -> str | None: ...
def ptxas() -> str | None: ...
def assembled(program: str, text: str, entry: str, target: str) -> tuple[int, int] | None: ...
def touches(
    text: str,
    overrides: list[str],
    block: Sequence[int],
    fold: Sequence[int],
    block_index: Sequence[int],
    thread: Sequence[int],
) -> list[tuple[str, str, int]]: ...
def command_line(arguments: list[str]) -> int: ...
def devices() -> list[str]: ...
def features() -> list[tuple[str, bool]]: ...
