"""Commands of the command line, run in this process with keywords in the place of options."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Callable, Mapping, Sequence

from . import _wavecast
from ._errors import KernelError, error
from ._kinds import made
from ._plain import plain
from ._results import Results, plain_text

#: Keywords whose values are shapes, one of which may be a list of numbers.
SHAPES = ("block", "fold", "read_block", "x_slowest")
#: Keywords that would put something else in the place of the result.
RESERVED = ("format", "quiet", "verbose", "help", "version")


class Inputs:
    """What a command reads: files as they are named, and files that hold what was given as an object. Used
    with ``with``, as the latter last no longer."""

    def __init__(self) -> None:
        # Takes a while to load, and not everybody runs commands.
        import tempfile

        self._folder = tempfile.TemporaryDirectory(prefix="wavecast-")
        #: What was written, by the name that messages give it.
        self.texts: dict[str, str] = {}

    def __enter__(self) -> Inputs:
        return self

    def __exit__(self, *_: Any) -> None:
        self._folder.cleanup()

    def hold(self, name: str, text: str) -> str:
        """The path of a new file with this text."""
        stem, extension = os.path.splitext(name)
        number = 2
        while name in self.texts:
            name, number = f"{stem}-{number}{extension}", number + 1
        self.texts[name] = text
        path = os.path.join(self._folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def path(self, name: str) -> str:
        """A path where a command may write."""
        return os.path.join(self._folder.name, name)

    def said(self, text: str) -> str:
        """The same without the folder, which nobody has named."""
        return text.replace(self._folder.name + os.sep, "")


def is_path(value: Any) -> bool:
    """Whether this names a file; a text of several lines or in braces is no name."""
    if isinstance(value, os.PathLike):
        return True
    return isinstance(value, str) and "\n" not in value and not value.lstrip().startswith(("{", "["))


def several(value: Any, one: Callable[[Any], str]) -> list[str]:
    """The paths of what may be one thing or a list of them."""
    if isinstance(value, (list, tuple)):
        return [one(item) for item in value]
    return [one(value)]


def run(command: Sequence[str], files: Sequence[str], options: Mapping[str, Any], inputs: Inputs) -> Any:
    """Runs a command that answers with documents."""
    output, text = ran(command, files, options, inputs, "--format=json")
    found = json.loads(inputs.said(output))
    said = None if text is None else plain_text(inputs.said(text))
    if isinstance(found, list):
        return Results(made(document) for document in found)
    if found.get("schema") == "wavecast/error/1":
        raise _error(found["errors"], inputs)
    return made(found, said)


def ran(
    command: Sequence[str], files: Sequence[str], options: Mapping[str, Any], inputs: Inputs, *more: str
) -> tuple[str, str | None]:
    """Runs a command: what it prints, and its result for a person."""
    arguments = [
        "wavecast",
        *command,
        *more,
        *_arguments(command, options),
        *(["--", *files] if files else []),
    ]
    status, output, text, said, errors = _wavecast.run(arguments)
    if errors is not None:
        raise _error(json.loads(errors)["errors"], inputs)
    if status != 0 and not output:
        raise _error([error("no-result", said.strip().removeprefix("error: "))], inputs)
    return output, text


def _error(errors: list[dict[str, Any]], inputs: Inputs) -> KernelError:
    """The errors with keywords in the place of options, and names in the place of files nobody has named."""

    def keywords(text: str | None) -> str | None:
        return text and re.sub(r"(?<![\w-])(?:--([a-z][a-z-]*)|-d\b)", _keyword, inputs.said(text))

    found = []
    for one in errors:
        told, file = keywords(one["help"]), one["file"] and inputs.said(one["file"])
        # How the command line is written helps nobody here.
        told = told and (told.partition("Usage: ")[0].strip() or None)
        found.append({**one, "message": keywords(one["message"]), "help": told, "file": file})
    first = next((one["file"] for one in found if one["file"] in inputs.texts), None)
    return KernelError(found, inputs.texts.get(first or ""), first)


def _keyword(option: re.Match[str]) -> str:
    return str(option[1]).replace("-", "_") + "=" if option[1] else "device="


def _arguments(command: Sequence[str], options: Mapping[str, Any]) -> list[str]:
    """Keywords as options."""
    arguments = []
    for name, value in options.items():
        if name in RESERVED:
            function = ".".join(command).replace("-", "_")
            raise TypeError(f"{function}() takes no {name}=: the result is a document, which str() prints")
        if value is None or value is False:
            continue
        option = ("-" if len(name) == 1 else "--") + name.rstrip("_").replace("_", "-")
        if value is True:
            arguments.append(option)
        else:
            arguments += [
                f"{option}={text}" if len(name) > 1 else f"{option}{text}" for text in _texts(name, value)
            ]
    return arguments


def _texts(name: str, value: Any) -> list[str]:
    """How often an option is given, and with what."""
    if isinstance(value, os.PathLike):
        return [os.fspath(value)]
    if name in SHAPES and not isinstance(value, str):
        return _shapes(plain(value, name))
    if isinstance(value, Mapping):
        between = ": " if name == "assume" else "="
        return [f"{key}{between}{_text(item, name)}" for key, item in value.items()]
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return [_text(item, name) for item in value]
    return [_text(value, name)]


def _shapes(value: Any) -> list[str]:
    """A shape, or a list of them: ``64``, ``(64, 4)``, ``[[64, 4], [128, 2, 1]]``."""
    if isinstance(value, list) and any(isinstance(item, (list, str)) for item in value):
        return [text for item in value for text in ([item] if isinstance(item, str) else _shapes(item))]
    extents = value if isinstance(value, list) else [value]
    return [",".join(map(str, [*extents, 1, 1][: max(3, len(extents))]))]


def _text(value: Any, name: str) -> str:
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    found = plain(value, name)
    return ",".join(map(str, found)) if isinstance(found, list) else str(found)
