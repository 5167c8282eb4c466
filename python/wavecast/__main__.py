"""The command line, which the wheel carries too: ``wavecast rank ...`` or ``python -m wavecast rank ...``."""

import signal
import sys

from ._wavecast import command_line


def main() -> int:
    """Runs the command line of this process."""
    # Python's own handler would wait until the work is done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    return command_line(["wavecast", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
