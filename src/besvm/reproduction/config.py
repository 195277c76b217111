"""How large the experiments are: as in the paper, or a small version of everything."""

from dataclasses import dataclass

MEASURES = ("H8L", "H8R", "H8(0,1)", "H8(1,0)", "H4L", "H4R", "H4(0,1)", "H4(1,0)", "H4(1,1)", "H4(2,0)", "H4(2,1)")
PSD = ("H8L", "H8R", "H4L", "H4R")  # positive semi-definite; all others are indefinite
INDEFINITE = tuple(measure for measure in MEASURES if measure not in PSD)
M1 = ("H8R", "H8(1,0)", "H8(0,1)")
M2 = ("H8R", "H4(2,0)", "H4(0,1)", "H8(1,0)")


@dataclass(frozen=True)
class Config:
    """The sizes of all experiments; the defaults are the paper's."""

    rows_per_fold: int = 10_000
    n_folds: int = 5
    fold_counts: tuple[int, ...] = (1, 3, 5)
    sizes: tuple[int, ...] = (25, 50, 100, 250, 500)  # exemplars of each class
    size: int = 100
    greedy_size: int = 50
    n_measures: int = 4  # that the greedy selection chooses
    trials: int = 5  # random bases
    toy_levels: int = 20
    toy_points: int = 200
    mkl_folds: int = 5
    cv_folds: int = 5  # when C is chosen
    repeats: int = 3  # runs, of which the fastest counts
    thorough: bool = False

    @property
    def steps(self) -> tuple[int, ...]:
        """All basis sizes that are used, ascending: the exemplars of a size are the first of any larger one."""
        return tuple(sorted({*self.sizes, self.size, self.greedy_size}))


FULL = Config()
QUICK = Config(
    rows_per_fold=200,
    sizes=(1, 2, 4, 8, 12),
    size=4,
    greedy_size=2,
    n_measures=3,
    trials=2,
    toy_levels=3,
    toy_points=60,
    mkl_folds=2,
    cv_folds=2,
    repeats=1,
)
