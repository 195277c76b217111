"""Parts, place by place: the naive loops that the fast ways are checked against."""

import numpy as np


def pooled(values, pool):
    return max(values) if pool == "max" else float(np.maximum(np.array(values) - 0.1, 0).mean())


def cut(n, regions):
    """Return which places are in each region: all that lie in it at least in part."""
    return [[i for i in range(n) if i + 1 > r * n / regions and i < (r + 1) * n / regions] for r in range(regions)]


def piece_vector(parts, piece):
    """Return a piece of a grid as it is compared, in float64."""
    x = np.asarray(piece, np.float64).ravel()
    if parts.contrast is not None:
        x = (x - x.mean()) / np.sqrt(x.var() + parts.contrast)
    if parts.whiten is not None:
        x = (x - parts.mean_) @ parts.components_.astype(np.float64)
    if parts.similarity is None:
        length = np.linalg.norm(x)
        x = x / length if length > 1e-4 else 0 * x
    return x


def grid_parts(parts, samples, pieces, order=None):
    """Return s_r(b, x) of every sample and piece, the columns of a piece side by side."""
    size, stride, regions = parts.size, parts.stride, parts.regions
    out = []
    for x in samples:
        ys, xs = (range(0, side - size + 1, stride) for side in x.shape[:2])
        rows, columns = cut(len(ys), regions), cut(len(xs), regions)

        def at(b, r, c, x=x, ys=ys, xs=xs, rows=rows, columns=columns):
            own = piece_vector(parts, b)
            return [
                own @ piece_vector(parts, x[ys[i] : ys[i] + size, xs[j] : xs[j] + size])
                for i in rows[r]
                for j in columns[c]
            ]

        row = []
        for b in pieces:
            flipped = b[:, ::-1] if order is None else b[:, ::-1][..., order]
            for pool in parts.pools:
                for r in range(regions):
                    for c in range(regions):
                        found = [pooled(at(b, r, c), pool)]
                        if parts.mirror:
                            found.append(pooled(at(flipped, r, regions - 1 - c), pool))
                        row.append(max(found) if pool == "max" else 2.5 * np.sqrt(sum(found)))
        out.append(row)
    return np.array(out)


def series_parts(parts, samples, pieces):
    """Return s_r(b, x) of every series and piece, the columns of a piece side by side."""
    out = []
    for series in samples:
        x = np.atleast_2d(np.asarray(series, np.float64))
        row = []
        for piece in pieces:
            b, step = piece["values"].astype(np.float64), int(piece["dilation"])
            n = x.shape[1] - (parts.length - 1) * step
            values = []
            for t in range(n):
                w = x[:, t : t + (parts.length - 1) * step + 1 : step]
                if piece["normalized"]:
                    u, v = (one - one.mean(axis=1, keepdims=True) for one in (w, b))
                    lengths = [np.linalg.norm(one) for one in (u, v)]
                    least = 1e-5 * parts.scale_ * np.sqrt(b.size)
                    values.append((u * v).sum() / np.prod(lengths) if min(lengths) > least else 0.0)
                else:
                    values.append(1 - ((w - b) ** 2).sum() / (2 * b.size * parts.scale_**2))
            for pool in parts.pools:
                found = [pooled([values[i] for i in region], pool) for region in cut(n, parts.regions)]
                row += [
                    -np.log(max(1 - one, 0) + 0.005) if pool == "max" else parts.mean_factor * np.sqrt(one)
                    for one in found
                ]
        out.append(row)
    return np.array(out)
