"""Principal components of the cells of grids."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from besvm import FHOG, BESVMClassifier, MeanNormScaler, Measure
from besvm.features import CellPCA
from besvm.measures import mirrored
from besvm.similarities import Deformable


@pytest.fixture
def grids(rng):
    return (rng.normal(size=(20, 4, 5, 3)) @ rng.normal(size=(3, 6))).astype(np.float32)


def test_it_is_the_pca_of_all_cells(grids):
    expected = PCA(3).fit(grids.reshape(-1, 6)).transform(grids.reshape(-1, 6)).reshape(20, 4, 5, 3)
    reduced = CellPCA(3).fit(grids).transform(grids)
    assert reduced.dtype == np.float32
    np.testing.assert_allclose(np.abs(reduced), np.abs(expected), atol=1e-4)


def test_the_differences_of_cells_of_low_rank_are_kept(grids):
    reduced = CellPCA(3).fit(grids).transform(grids)
    np.testing.assert_allclose(
        np.linalg.norm(reduced[3] - reduced[7], axis=-1), np.linalg.norm(grids[3] - grids[7], axis=-1), rtol=1e-4
    )


def test_a_list_of_grids_of_different_sizes(grids):
    ragged = [grids[0], grids[1, :2]]
    pca = CellPCA(2).fit(ragged)
    assert [grid.shape for grid in pca.transform(ragged)] == [(4, 5, 2), (2, 5, 2)]
    assert clone(pca).components == 2


def test_no_more_components_than_a_cell_has_values(grids):
    assert CellPCA(50).fit(grids).transform(grids).shape == (20, 4, 5, 6)


@pytest.mark.parametrize(
    ("pca", "X", "sentence"),
    [
        (CellPCA(0), np.ones((2, 3, 3, 4)), "components must be a whole number of at least 1, got 0"),
        (CellPCA(2), np.ones((2, 3)), r"grid 0 must have shape \(height, width, values\), got \(3,\)"),
        (CellPCA(2), np.full((2, 3, 3, 4), np.nan), "grid 0 must hold finite numbers, got NaN or infinity"),
    ],
)
def test_what_is_no_grid_is_refused(pca, X, sentence):
    with pytest.raises(ValueError, match=sentence):
        pca.fit(X)


def test_samples_with_other_cells_are_refused(grids):
    pca = CellPCA(2).fit(grids)
    with pytest.raises(ValueError, match="cells must have 6 values like those used in fit, got 5"):
        pca.transform(grids[..., :5])


def test_it_goes_before_similarities_of_grids_and_learns_from_some_rows(rng, monkeypatch):
    X, y = rng.integers(0, 30, (40, 16, 16), dtype=np.uint8), np.arange(40) % 2
    X[y == 1, 4:12, 4:8] = 255
    features = make_pipeline(FHOG(cell=4), CellPCA(8), MeanNormScaler())
    measure = mirrored(Measure(Deformable(1, 0), features=features))
    assert BESVMClassifier(measure, basis=10, random_state=0).fit(X, y).score(X, y) > 0.9
    learned = []
    fit = CellPCA.fit
    monkeypatch.setattr(CellPCA, "learns_from", 12)
    monkeypatch.setattr(CellPCA, "fit", lambda self, X, y=None: learned.append(len(X)) or fit(self, X, y))
    monkeypatch.setattr("besvm.expand.room.WORK_BYTES", 1000)  # so that the scaler learns by blocks
    BESVMClassifier(measure, basis=10, random_state=0).fit(X, y)
    assert learned == [12]
