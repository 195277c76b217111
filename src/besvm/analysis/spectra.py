"""How indefinite a similarity is: the eigenvalues of its matrix, summed up as in table "eigs" of the paper."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from besvm._support.extras import optional
from besvm._support.parameters import make_rng
from besvm._support.threads import workers
from besvm._support.validation import check_vectors, labels_or_none
from besvm.expand import fit_expander
from besvm.expansion import BasisExpansion
from besvm.measures import as_measure, compares_vectors
from besvm.normalize.spectrum import check_matrix, frobenius, rounding


@dataclass(frozen=True)
class Spectrum:
    """The eigenvalues of a similarity matrix, made symmetric.

    Attributes
    ----------
    eigenvalues : ndarray of shape (B,)
        Of (K + Kᵀ)/2, in descending order.
    negative_ratio : float
        NgRat, the share of negative eigenvalues: (1/B) Σᵢ [λᵢ < 0].
    negative_energy : float
        NgEng, their energy relative to the positive ones: Σᵢ |λᵢ|[λᵢ < 0] / Σᵢ |λᵢ|[λᵢ > 0].
    asymmetry : float
        ‖K - Kᵀ‖ / 2‖K‖ in the Frobenius norm: 0 for a symmetric K, 1 for one with K = -Kᵀ.
    noise : float
        Eigenvalues no larger than this are rounding errors of the entries of K, and count as zero.

    Examples
    --------
    >>> from besvm.analysis import spectrum
    >>> spectrum([[1.0, 2.0], [2.0, 1.0]]).eigenvalues
    array([ 3., -1.])
    """

    eigenvalues: np.ndarray
    asymmetry: float
    noise: float

    @property
    def negative_ratio(self) -> float:
        """NgRat."""
        return float((self.eigenvalues < -self.noise).mean())

    @property
    def negative_energy(self) -> float:
        """NgEng; infinite if no eigenvalue is positive and some are negative."""
        below = float(np.abs(self.eigenvalues[self.eigenvalues < -self.noise]).sum())
        above = float(self.eigenvalues[self.eigenvalues > self.noise].sum())
        if above == 0:
            return np.inf if below else 0.0
        return below / above

    def __str__(self) -> str:
        values = self.eigenvalues
        negative = int((values < -self.noise).sum())
        kind = "indefinite" if negative else "positive semi-definite"
        return (
            f"{kind}: {negative:,} of {len(values):,} eigenvalues are negative (NgRat {self.negative_ratio:.3f}), with "
            f"{self.negative_energy:.4f} times the energy of the positive ones (NgEng); "
            f"from {values[0]:.4g} down to {values[-1]:.4g}, asymmetry {self.asymmetry:.3g}"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the sizes of the eigenvalues on a logarithmic axis, the negative ones on their own curve.

        Draws on ``ax``, by default on a new figure, and returns the axes.
        """
        if ax is None:
            ax = optional("matplotlib.pyplot", "drawing a spectrum").subplots(figsize=(6, 3.6), layout="constrained")[1]
        place, sizes = np.arange(1, len(self.eigenvalues) + 1), np.abs(self.eigenvalues)
        sure = sizes[sizes > self.noise]
        floor = float(np.quantile(sure, 0.01)) / 2 if len(sure) else 0.1  # the very smallest would stretch the axis
        for name, color, chosen in (
            ("positive", "tab:blue", self.eigenvalues > self.noise),
            ("negative", "tab:red", self.eigenvalues < -self.noise),
        ):
            if chosen.any():
                ax.plot(place[chosen], sizes[chosen], color=color, label=f"{chosen.sum():,} {name}")
                ax.fill_between(place[chosen], sizes[chosen], floor, color=color, alpha=0.15, linewidth=0)
        ax.set(yscale="log", ylim=(floor, None), xlim=(0, len(place) + 1))
        ax.set(xlabel="eigenvalues, from the largest down", ylabel="|λ|")
        ax.set_title(f"NgRat {self.negative_ratio:.2f}, NgEng {self.negative_energy:.3f}", fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(frameon=False)
        return ax


def spectrum(K: Any) -> Spectrum:
    """Return the eigenvalues of a similarity matrix and what the paper reads from them (table "eigs").

    An asymmetric K is made symmetric, (K + Kᵀ)/2, since NgRat and NgEng need real eigenvalues. Eigenvalues that the
    rounding of K's entries could have made count as zero: those up to ε(‖K‖ + Σᵢ|Kᵢᵢ|), with ε of K's own dtype.

    Parameters
    ----------
    K : array of shape (B, B)
        The similarity of every item to every other.

    Returns
    -------
    Spectrum
        With ``eigenvalues``, ``negative_ratio`` and ``negative_energy``.

    See Also
    --------
    measure_spectrum : the same from a measure and samples.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.analysis import spectrum
    >>> from besvm.similarities import Sigmoid
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> found = spectrum(Sigmoid(gamma=1.0)(X, X))
    >>> round(found.negative_ratio, 2), found.asymmetry
    (0.5, 0.0)
    """
    matrix = check_matrix(K)
    halves = matrix / 2  # the sum of two whole ones may overflow
    symmetric = halves + halves.T
    norm = frobenius(matrix)
    asymmetry = frobenius(halves - halves.T) / norm if norm else 0.0
    values = eigvalsh(symmetric)[::-1]
    return Spectrum(values, asymmetry, rounding(symmetric, np.asarray(K).dtype))


def measure_spectrum(
    measure: Any, X: Any, y: Any = None, *, basis: Any = "auto", n_jobs: int | None = None, random_state: Any = None
) -> Spectrum:
    """Return the spectrum of a measure on exemplars chosen from X: K_mm of equation 2.

    The measure's features and parameters are fitted on X, as a classifier does.

    Parameters
    ----------
    measure : str, Similarity, callable or Measure
        What is compared.
    X : samples
        Anything with a length and slices that the measure can compare.
    y : array of shape (n,), optional
        Classes, for a basis that is balanced over them.
    basis : default="auto"
        Which rows are compared, as in :class:`besvm.BasisExpansion`.
    n_jobs : int, optional
        Threads (processes, for a Python function); by default all that BLAS may use.
    random_state : int, RandomState or None, default=None
        Of the choice of exemplars.

    Returns
    -------
    Spectrum
        Of the matrix of similarities between the exemplars.

    Examples
    --------
    >>> from besvm.analysis import measure_spectrum
    >>> from besvm.basis import IndexBasis
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> measure_spectrum("rbf", X, y, basis=IndexBasis(per_class=10)).negative_ratio
    0.0
    """
    expansion = BasisExpansion(measure, basis=basis)
    one = as_measure(measure)
    X = check_vectors(expansion, X, compares_vectors([one]))
    with workers(n_jobs):
        expander = fit_expander(X, labels_or_none(X, y), [one], basis, make_rng(random_state))
        return spectrum(expander.within_basis(X, None)[0])
