"""Numba's type of a tuple that lies in memory, for kernels that are given its place (`pointers`).

Only what is read of it is loaded: a field that is a tuple with arrays is such a place again.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.datamodel.models import PointerModel
from numba.core.extending import lower_getattr_generic, register_model
from numba.core.typing.templates import AttributeTemplate, infer_getattr

from learnt.engine.kernel.cache import record_fields


class Place(types.Type):
    """Where a NamedTuple is."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"place of {dtype}{record_fields(dtype)}")


def field_type(place: Any, name: str) -> Any:
    """What reading a field gives; None where there is none of this name."""
    names = place.dtype.fields
    if name not in names:
        return None
    kind = place.dtype[names.index(name)]
    return Place(kind) if _holds_arrays(kind) else kind


def _holds_arrays(kind: Any) -> bool:
    fields: Any = kind
    return isinstance(kind, types.BaseNamedTuple) and any(
        isinstance(each, types.Array | types.BaseTuple) for each in fields
    )


def _tell_numba() -> None:
    """How fields are typed and read."""
    register_model(Place)(PointerModel)

    @infer_getattr
    class PlaceFields(AttributeTemplate):
        key = Place

        def generic_resolve(self, value: Any, attr: str) -> Any:  # type: ignore[override]
            return field_type(value, attr)

    @lower_getattr_generic(Place)
    def read_field(context: Any, builder: Any, place: Any, value: Any, name: str) -> Any:
        at = cgutils.gep_inbounds(builder, value, 0, place.dtype.fields.index(name))
        kind = field_type(place, name)
        return at if isinstance(kind, Place) else context.unpack_value(builder, kind, at)


_tell_numba()
