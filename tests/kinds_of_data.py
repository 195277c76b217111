"""A few samples of every kind of data, in two classes."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

N = 24


def labels() -> np.ndarray:
    return np.array(["left", "right"])[np.arange(N) % 2]


def of_kind(kind: str, name: str) -> Any:
    """Return N samples that a similarity of this kind and name compares; the classes of labels() differ a little."""
    rng = np.random.default_rng(0)
    side = np.arange(N) % 2
    if name == "chi2-distance" or (kind == "distributions" and name not in ("sliced-wasserstein", "sinkhorn")):
        return rng.random((N, 6)) + side[:, None]
    if kind == "distributions":
        return [rng.normal(size=(5 + i % 3, 2)) + side[i] for i in range(N)]
    if kind == "images":
        return rng.random((N, 8, 8, 3)).astype(np.float32) + side[:, None, None, None]
    if kind == "series":
        uneven = 0 if name == "series-euclidean" else 3
        return [rng.normal(size=20 + i % 4 * uneven) + side[i] for i in range(N)]
    if kind in ("text", "sequences"):
        return ["".join(rng.choice(list("ACDE" if side[i] else "GHIK"), 12 + i % 4)) for i in range(N)]
    if kind == "sets":
        if name == "tanimoto":
            return rng.integers(0, 2, (N, 16)).astype(np.uint8)
        return [set(rng.choice(20, 5, replace=False).tolist()) | {100 + side[i].item()} for i in range(N)]
    if kind == "graphs":
        graphs = [nx.cycle_graph(5 + i % 4) if side[i] else nx.path_graph(5 + i % 4) for i in range(N)]
        for graph in graphs:
            nx.set_node_attributes(graph, {node: f"kind {node % 2}" for node in graph}, "label")
        return graphs
    if kind == "records":
        return pd.DataFrame(
            {
                "age": rng.normal(size=N) + side,
                "color": pd.Categorical(rng.choice(["red", "blue"], N)),
                "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), unit="D"),
                "note": [None if i % 7 == 0 else f"n{i % 3}" for i in range(N)],
                "count": rng.integers(0, 9, N),
                "yes": rng.random(N) > 0.5,
            }
        )
    return rng.normal(size=(N, 4)) + side[:, None]
