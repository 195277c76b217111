"""What every exemplar adds to a decision, by the definition: loops over measures, exemplars, columns and classes."""

import numpy as np


def contributions(model, X):
    """Return (exemplars, classes) for the only sample in X, and the constants without rounding, (classes,).

    ``model`` is a BESVMClassifier, one-vs-rest or of two classes.
    """
    expander, normalizer = model._map.expander, model._map.normalizer
    phi, raw = model.transform(X)[0].astype(float), expander(X)[0].astype(float)
    n_classes = len(model.classes_)
    out, column, first = [], 0, 0
    for place, measure in enumerate(expander.measures):
        first = column
        for _ in range(measure.n_exemplars):
            adds = np.zeros(n_classes)
            for _ in range(measure.similarity.columns_each):
                for c in range(n_classes):
                    adds[c] += _weight(model, normalizer, place, first, column, c) * (
                        raw[column] if normalizer.mixes else phi[column]
                    )
                column += 1
            out.append(adds)
    constant = [_of_class(model.intercept_, n_classes, c) for c in range(n_classes)]
    return np.array(out), np.array(constant)


def _weight(model, normalizer, place, first, column, c):
    """Return what the feature, or of a mixture the raw similarity, of a column weighs for class c."""
    own = _of_class(model.coef_, len(model.classes_), c)
    if not normalizer.mixes:
        return own[column]
    matrix = normalizer.matrices[place]
    return sum(float(matrix[column - first, k]) * own[first + k] for k in range(len(matrix)))


def _of_class(values, n_classes, c):
    if n_classes > 2:
        return values[c]
    return values[0] if c == 1 else -values[0]
