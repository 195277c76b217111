"""Values of other libraries in a file: moments, columns and tables of pandas, graphs of networkx.

None of these libraries is imported to write: what holds their values has done so.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from besvm._support.extras import optional
from besvm.files.kinds import Kind, Pack, Unpack, UnsavableError, UnsoundError, items_of

GRAPHS = ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")
MISSING = ("NA", "NaT")
TABLES = "a model of tables"
BY_ITEM = ("object", "str", "string", "boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "Float32", "Float64")


def _pack_moment(value: Any, where: str, pack: Pack, keep: Any) -> dict[str, Any]:
    if isinstance(value, datetime.timedelta):
        return {"of": "timedelta", "value": [value.days, value.seconds, value.microseconds]}
    of = "date" if type(value) is datetime.date else "datetime"
    if of == "datetime" and type(value) is not datetime.datetime:
        value, of = value.to_datetime64(), "timestamp"
        return {"of": of, "value": int(value.astype("M8[ns]").astype(np.int64))}
    return {"of": of, "value": value.isoformat()}


def _unpack_moment(node: dict[str, Any], unpack: Unpack, array: Any) -> Any:
    of, value = node["of"], node["value"]
    if of == "timedelta":
        return datetime.timedelta(*value)
    if of == "timestamp":
        pd = optional("pandas", TABLES)

        return pd.Timestamp(np.datetime64(value, "ns"))
    return {"date": datetime.date, "datetime": datetime.datetime}[of].fromisoformat(value)


def _is_missing(value: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and any(value is getattr(pandas, name) for name in MISSING)


def _pack_missing(value: Any, where: str, pack: Pack, keep: Any) -> dict[str, Any]:
    return {"name": next(name for name in MISSING if getattr(sys.modules["pandas"], name) is value)}


def _unpack_missing(node: dict[str, Any], unpack: Unpack, array: Any) -> Any:
    pd = optional("pandas", TABLES)

    return {name: getattr(pd, name) for name in MISSING}[node["name"]]


def _is_graph(value: Any) -> bool:
    networkx = sys.modules.get("networkx")
    return networkx is not None and any(type(value) is getattr(networkx, name) for name in GRAPHS)


def _pack_graph(value: Any, where: str, pack: Pack, keep: Any) -> dict[str, Any]:
    edges = value.edges(keys=True, data=True) if value.is_multigraph() else value.edges(data=True)
    return {
        "of": type(value).__name__,
        "about": pack(dict(value.graph), where),
        "nodes": pack([(node, dict(about)) for node, about in value.nodes(data=True)], where),
        "edges": pack([(*edge[:-1], dict(edge[-1])) for edge in edges], where),
    }


def _unpack_graph(node: dict[str, Any], unpack: Unpack, array: Any) -> Any:
    nx = optional("networkx", "a model of graphs")

    graph = {name: getattr(nx, name) for name in GRAPHS}[node["of"]]()
    graph.graph.update(unpack(node["about"]))
    for name, about in unpack(node["nodes"]):
        graph.add_node(name, **about)
    for edge in unpack(node["edges"]):
        graph.add_edge(*edge[:-1], **edge[-1])
    return graph


def _is_pandas(name: str) -> Callable[[Any], bool]:
    def matches(value: Any) -> bool:
        pandas = sys.modules.get("pandas")
        return pandas is not None and type(value) is getattr(pandas, name)

    return matches


def _pack_column(values: Any, where: str, pack: Pack) -> dict[str, Any]:
    """Return the values of a Series or an Index as an array, as codes of categories, or item by item."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biufmM":
        return {"values": pack(values.to_numpy(), where)}
    if dtype.name == "category":
        codes = values.codes if hasattr(values, "codes") else values.cat.codes.to_numpy()
        return {
            "codes": pack(np.asarray(codes), where),
            "categories": _pack_column(dtype.categories, where, pack),
            "ordered": bool(dtype.ordered),
        }
    if dtype.name not in BY_ITEM:
        raise UnsavableError(
            f"{where} has the type {dtype.name}, which a model file cannot hold; convert it to a plain type"
        )
    return {"items": pack(list(values), where), "dtype": dtype.name}


def _unpack_column(node: Any, unpack: Unpack) -> Any:
    """Return the values of a column, as pandas takes them."""
    pd = optional("pandas", TABLES)

    if not isinstance(node, dict):
        raise UnsoundError("a column must have values")
    if "values" in node:
        values = unpack(node["values"])
        if not (isinstance(values, np.ndarray) and values.ndim == 1):
            raise UnsoundError("a column must have one axis")
        return values
    if "codes" in node:
        categories = pd.Index(_unpack_column(node["categories"], unpack))
        return pd.Categorical.from_codes(unpack(node["codes"]), categories, ordered=bool(node["ordered"]))
    if node.get("dtype") not in BY_ITEM:
        raise UnsoundError("a column must have a known type")
    items = unpack(items_of(node))
    return _objects(items) if node["dtype"] == "object" else pd.array(items, dtype=node["dtype"])


def _objects(items: list[Any]) -> np.ndarray:
    out = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        out[place] = item
    return out


def _pack_frame(value: Any, where: str, pack: Pack, keep: Any) -> dict[str, Any]:
    if value.index.nlevels > 1 or value.columns.nlevels > 1:
        raise UnsavableError(f"{where} is a table with an index of several levels, which a model file cannot hold")
    names = [pack(name, f"a name of a column of {where}") for name in value.columns]
    columns = [
        _pack_column(value.iloc[:, place], f"column {name!r} of {where}", pack)
        for place, name in enumerate(value.columns)
    ]
    return {"names": names, "columns": columns, "index": _pack_column(value.index, f"the index of {where}", pack)}


def _unpack_frame(node: dict[str, Any], unpack: Unpack, array: Any) -> Any:
    pd = optional("pandas", TABLES)

    columns = [_unpack_column(column, unpack) for column in items_of(node, "columns")]
    index = pd.Index(_unpack_column(node["index"], unpack))
    if any(len(column) != len(index) for column in columns):
        raise UnsoundError("the columns of a table must be as long as its index")
    frame = pd.DataFrame(dict(enumerate(columns)), index=index)
    frame.columns = pd.Index([unpack(name) for name in items_of(node, "names", len(columns))])
    return frame


def _pack_series(value: Any, where: str, pack: Pack, keep: Any) -> dict[str, Any]:
    return {"name": pack(value.name, where), "table": _pack_frame(value.to_frame("values"), where, pack, keep)}


def _unpack_series(node: dict[str, Any], unpack: Unpack, array: Any) -> Any:
    frame = _unpack_frame(node["table"], unpack, array)
    return frame.iloc[:, 0].rename(unpack(node["name"]))


OTHERS: tuple[Kind, ...] = (
    Kind("missing", _is_missing, _pack_missing, _unpack_missing),
    Kind("moment", lambda v: isinstance(v, (datetime.date, datetime.timedelta)), _pack_moment, _unpack_moment),
    Kind("table", _is_pandas("DataFrame"), _pack_frame, _unpack_frame),
    Kind("column", _is_pandas("Series"), _pack_series, _unpack_series),
    Kind("graph", _is_graph, _pack_graph, _unpack_graph),
)
