"""Values of Python, NumPy and SciPy in a file: collections, numbers, arrays, types, sparse matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from besvm.blocks.plan import check_fits
from besvm.files.container import PLAIN_DTYPE, check_items
from besvm.files.kinds import Kind, Pack, Unpack, UnsavableError, UnsoundError, items_of, packed_all

NUMBER_TYPES = ("bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint64", "object")
BYTES_A_COLUMN = 16  # that comparing with a sparse matrix takes for each of its columns, empty ones too


def _collection(cls: type) -> Kind:
    def pack(value: Any, where: str, pack: Pack, keep: Any) -> dict[str, Any]:
        ordered = value if cls is tuple else sorted(value, key=lambda one: (type(one).__name__, repr(one)))
        return {"items": packed_all(ordered, where, pack)}

    def unpack(node: dict[str, Any], unpack: Unpack, array: Any) -> Any:
        return cls([unpack(item) for item in items_of(node)])

    return Kind(cls.__name__, lambda value: type(value) is cls, pack, unpack)


def _pack_dict(value: Any, where: str, pack: Pack, keep: Any) -> dict[str, Any]:
    return {"items": [[pack(k, f"a key of {where}"), pack(v, f"{where}[{k!r}]")] for k, v in value.items()]}


def _unpack_dict(node: dict[str, Any], unpack: Unpack, array: Any) -> Any:
    pairs = items_of(node)
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise UnsoundError("a dict must be written as pairs")
    return {unpack(key): unpack(value) for key, value in pairs}


def _unpack_float(node: dict[str, Any], unpack: Unpack, array: Any) -> float:
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[node["value"]]


def _pack_scalar(value: Any, where: str, pack: Pack, keep: Any) -> dict[str, Any]:
    one = np.asarray(value)
    return {"dtype": one.dtype.newbyteorder("<").str, "hex": one.astype(one.dtype.newbyteorder("<")).tobytes().hex()}


def _unpack_scalar(node: dict[str, Any], unpack: Unpack, array: Any) -> Any:
    if not PLAIN_DTYPE.fullmatch(node["dtype"]):
        raise UnsoundError("a number must have a plain type")
    data, dtype = np.frombuffer(bytes.fromhex(node["hex"]), dtype=np.uint8), np.dtype(node["dtype"])
    check_items(data, dtype)
    (value,) = data.view(dtype)
    return value


def _pack_array(value: np.ndarray, where: str, pack: Pack, keep: Callable[[np.ndarray], int]) -> dict[str, Any]:
    if value.dtype.hasobject and value.dtype.kind == "O":
        return {"shape": list(value.shape), "items": packed_all(value.ravel().tolist(), where, pack)}
    if value.dtype.names:
        return {"shape": list(value.shape), "fields": {name: pack(value[name], where) for name in value.dtype.names}}
    if value.dtype.kind not in "biufcSUmM":
        raise UnsavableError(
            f"{where} is an array of {value.dtype}, which a model file cannot hold; use its columns one by one"
        )
    return {"n": keep(value)}


def _unpack_array(node: dict[str, Any], unpack: Unpack, array: Callable[[int], np.ndarray]) -> np.ndarray:
    if "n" in node:
        return array(node["n"])
    shape = items_of(node, "shape")
    if "fields" in node:
        return _of_fields(node["fields"], tuple(shape), unpack)
    items = items_of(node)
    if not all(type(side) is int and side >= 0 for side in shape) or math.prod(shape) != len(items):
        raise UnsoundError("an array must have as many items as its shape says")
    out = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        out[place] = unpack(item)
    return out.reshape(shape)


def _of_fields(fields: Any, shape: tuple[int, ...], unpack: Unpack) -> np.ndarray:
    """Return the array with named fields that is made of an array for each of them."""
    parts = {name: unpack(part) for name, part in fields.items()}
    if not parts or not all(
        isinstance(part, np.ndarray) and part.shape[: len(shape)] == shape for part in parts.values()
    ):
        raise UnsoundError("the fields of an array must have its shape")
    out = np.empty(shape, [(name, part.dtype, part.shape[len(shape) :]) for name, part in parts.items()])
    for name, part in parts.items():
        out[name] = part
    return out


def _pack_sparse(value: Any, where: str, pack: Pack, keep: Callable[[np.ndarray], int]) -> dict[str, Any]:
    rows = value.tocsr()
    parts = {part: keep(getattr(rows, part)) for part in ("data", "indices", "indptr")}
    return {**parts, "shape": list(rows.shape), "array": isinstance(value, sparse.sparray), "sorted": _is_sorted(rows)}


def _is_sorted(rows: Any) -> bool:
    return bool(rows.has_sorted_indices)


def _unpack_sparse(node: dict[str, Any], unpack: Unpack, array: Callable[[int], np.ndarray]) -> Any:
    data, indices, indptr = (array(node[part]) for part in ("data", "indices", "indptr"))
    shape = tuple(items_of(node, "shape", 2))
    if data.ndim != 1 or data.dtype.kind not in "biuf" or any(part.dtype.kind != "i" for part in (indices, indptr)):
        raise UnsoundError("a sparse matrix must have numbers, and whole numbers as positions")
    if not all(type(side) is int and 0 <= side < 1 << 48 for side in shape) or len(indptr) != shape[0] + 1:
        raise UnsoundError("a sparse matrix must have as many rows as its shape says")
    if indptr.ndim != 1 or indptr[0] != 0 or (np.diff(indptr.astype(np.int64)) < 0).any():
        raise UnsoundError("the rows of a sparse matrix must begin one after the other")  # SciPy asks only if any end
    check_fits("the columns of a sparse matrix", BYTES_A_COLUMN * shape[1], None, "a machine with more")
    rows = (sparse.csr_array if node.get("array") else sparse.csr_matrix)((data, indices, indptr), shape=shape)
    rows.check_format(full_check=True)  # places outside of it would be read by compiled code
    if bool(node.get("sorted")) != _is_sorted(rows) and node.get("sorted"):
        raise UnsoundError("a sparse matrix must be sorted if it says so")
    return rows


def _unpack_dtype(node: dict[str, Any], unpack: Unpack, array: Any) -> Any:
    if node["name"] not in NUMBER_TYPES:
        raise UnsoundError("a dtype must be one of numbers")
    return np.dtype(node["name"])


def _is_number_type(value: Any) -> bool:
    return isinstance(value, type) and value.__module__ in ("numpy", "builtins") and value in _number_types()


def _number_types() -> dict[type, str]:
    own: dict[type, str] = {getattr(np, name): name for name in NUMBER_TYPES if name not in ("bool", "object")}
    return own | {np.bool_: "bool", float: "float", int: "int", str: "str", object: "object"}


def _unpack_type(node: dict[str, Any], unpack: Unpack, array: Any) -> Any:
    return {name: cls for cls, name in _number_types().items()}[node["name"]]


VALUES: tuple[Kind, ...] = (
    _collection(tuple),
    _collection(set),
    _collection(frozenset),
    Kind("dict", lambda v: type(v) is dict, _pack_dict, _unpack_dict),
    Kind("float", lambda v: type(v) is float, lambda v, *_: {"value": repr(v)}, _unpack_float),
    Kind("bytes", lambda v: type(v) is bytes, lambda v, *_: {"hex": v.hex()}, lambda n, *_: bytes.fromhex(n["hex"])),
    Kind(
        "slice",
        lambda v: type(v) is slice,
        lambda v, where, pack, _: {"items": [pack(x, where) for x in (v.start, v.stop, v.step)]},
        lambda n, unpack, _: slice(*(unpack(x) for x in items_of(n, length=3))),
    ),
    Kind("array", lambda v: type(v) in (np.ndarray, np.memmap), _pack_array, _unpack_array),
    Kind("number", lambda v: isinstance(v, np.generic) and v.dtype.kind in "biufcSUmM", _pack_scalar, _unpack_scalar),
    Kind(
        "dtype",
        lambda v: isinstance(v, np.dtype) and v.name in NUMBER_TYPES,
        lambda v, *_: {"name": v.name},
        _unpack_dtype,
    ),
    Kind("type", _is_number_type, lambda v, *_: {"name": _number_types()[v]}, _unpack_type),
    Kind("sparse", sparse.issparse, _pack_sparse, _unpack_sparse),
)
