"""What is raised where a question has no answer."""

from __future__ import annotations

from typing import Any


#: Names of the text that came with the question.
QUOTED = ("kernel", "kernel_text", "PTX")


class KernelError(ValueError):
    """A kernel, a device or an option that cannot be used, or a launch that has no prediction.

    ``errors`` holds every mistake that was found as a dict with ``code``, ``message``, ``file``, ``line``,
    ``column`` (both from 1, or ``None``) and ``help``; ``text`` is the text that line and column point
    into, of the file ``name`` if it has one. The message of the exception names all of them and quotes their lines.
    """

    # Where people find it.
    __module__ = "wavecast"

    def __init__(self, errors: list[dict[str, Any]], text: str | None = None, name: str | None = None):
        self.errors = errors
        self.text = text
        self._name = name
        super().__init__("\n".join(_described(error, text, name) for error in errors))

    def __reduce__(self) -> Any:
        # As it was made: a process that works for another one hands its errors over.
        return type(self), (self.errors, self.text, self._name)

    @property
    def code(self) -> str:
        """The stable name of the first mistake."""
        return str(self.errors[0]["code"])

    @property
    def line(self) -> int | None:
        """The line of the first mistake."""
        line: int | None = self.errors[0]["line"]
        return line

    @property
    def column(self) -> int | None:
        """The column of the first mistake."""
        column: int | None = self.errors[0]["column"]
        return column


def _described(error: dict[str, Any], text: str | None, name: str | None) -> str:
    said: str = error["message"]
    line, column = error["line"], error["column"]
    if line is not None:
        place = line if column is None else f"{line}:{column}"
        said = f"{error['file']}:{place}: {said}"
        lines = (text or "").splitlines()
        if text is not None and error["file"] in (*QUOTED, name) and line <= len(lines):
            said += f"\n    {lines[line - 1]}"
            said += "" if column is None else f"\n    {' ' * (column - 1)}^"
    if error["help"]:
        said += f"\n  help: {error['help']}"
    return said


def error(code: str, message: str, help: str | None = None) -> dict[str, Any]:
    """A mistake that is in no text."""
    return {"code": code, "message": message, "file": None, "line": None, "column": None, "help": help}
