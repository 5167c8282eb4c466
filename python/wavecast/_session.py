"""The session that answers: kernels and devices that were read are kept, as a search asks about them again
and again."""

from __future__ import annotations

from . import _wavecast

SESSION = _wavecast.Session()
