"""lbmpy (2.0) kernels for GPU targets as kernel documents, through :mod:`wavecast.pystencils`.

>>> from wavecast.lbmpy import rank
>>> rank(update_rule, config, device="a100")         # of `lbmpy.create_lb_update_rule`
>>> rank(kernel, device="a100")                      # or a kernel that was created from it

Covers what `create_lb_update_rule` and other collections of assignments give: any stencil, streaming pattern
and layout. Does not cover boundary kernels, which run over index lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from . import pystencils as _pystencils
from ._api import Device
from .pystencils import Unsupported, configure, default_block, launch_configuration

if TYPE_CHECKING:
    from pystencils import CreateKernelConfig
    from pystencils.codegen import GpuKernel

__all__ = ["Unsupported", "configure", "default_block", "document", "kernel", "launch_configuration", "rank"]


def kernel(rule: Any, config: CreateKernelConfig | None = None) -> GpuKernel:
    """The GPU kernel of an update rule; a kernel stays as it is."""
    if hasattr(rule, "get_launch_configuration"):
        return rule
    import pystencils

    return pystencils.create_kernel(rule, config or pystencils.CreateKernelConfig(target=pystencils.Target.CUDA))


def document(rule: Any, config: CreateKernelConfig | None = None, **options: Any) -> dict[str, Any]:
    """The kernel document of an update rule or a kernel; ``options`` as for :func:`wavecast.pystencils.document`."""
    return _pystencils.document(kernel(rule, config), **options)


def rank(
    rule: Any,
    config: CreateKernelConfig | None = None,
    device: Device | None = None,
    *,
    document_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Ranks the blocks of an update rule or a kernel, as :func:`wavecast.pystencils.rank` does."""
    return _pystencils.rank(kernel(rule, config), device, document_options=document_options, **options)
