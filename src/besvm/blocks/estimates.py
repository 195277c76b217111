"""How many bytes each kind of work takes, and the budgets that follow: arithmetic alone, for the plan.

All are upper estimates, measured against the peaks of processes (tests/blocks). ``n`` rows of ``width`` features of
``itemsize`` bytes are trained in ``n_columns`` columns by ``n_jobs`` threads.
"""

from collections.abc import Sequence
from math import ceil, isqrt

from besvm._support.threads import n_waiting
from besvm.blocks.stores import CACHE_BYTES, COARSE_BYTES, COMPUTE_BYTES, DISK_BYTES, WORK_BYTES

HESSIAN_BYTES = 1 << 28  # what the Hessians of the L1 columns solved together may take
SPARING = 8  # times less, where memory is short
SMALLEST_SET = 32  # weights that a working set of the L1 solver may always have
MOST_SAMPLED = 2048  # weights of a Hessian that is formed whole
ROWS_PER_WEIGHT, SAMPLE = 8, 1 << 24  # rows that it is formed from, or numbers in them: whichever is more
KEPT = 3 << 24  # what the allocator keeps of all that was freed
COMPUTED = 8  # blocks: one of similarities, what a similarity takes beside it, and what is compiled on first use
ROW_ARRAYS = 5  # arrays of (n, n_columns) that the L2 solver holds at once: slacks, change, products, margins of two C
L1_ROW_ARRAYS = 10  # the same of the L1 solver, which works on whole arrays
COLUMN_ARRAYS = 12  # of (width, n_columns), in float64
SKETCH_ARRAYS = 5  # of (width, test vectors), in float64
PACKED = 5  # times the exemplars: themselves, what is packed of them, and what packing makes for a while
EIGEN_ARRAYS = 7  # of a matrix's own size, in float64, that its eigenvectors take, with their work space

# for every entry of a pair's matrix: float64 itself and LIBSVM's float32 cache, then what the spectrum takes
PAIR, CHECK, SQUARE, EIGEN = 12, 8, 16, 48
COPIES = 3  # of the items that a kernel SVM compares
PAIR_VIEW = 40  # for every entry of a pair's matrix that is looked at: itself, its spectrum fixed, its eigenvectors


def first_rank(size: int) -> int:
    """Return how many eigenvectors a preconditioner begins with: forming their Hessians then costs about one pass."""
    return size if size <= 128 else max(64, min(256, isqrt(4 * size)))


def last_rank(size: int) -> int:
    """Return how many eigenvectors at most: their coordinates then take a quarter of the memory of the features."""
    return min(256, size) if size <= MOST_SAMPLED else min(1024, size // 4)


def sample_rows(n: int, size: int) -> int:
    """Return how many rows a Hessian of this size is formed from; 0: it would be too large."""
    return 0 if size > MOST_SAMPLED else min(n, max(ROWS_PER_WEIGHT * size, SAMPLE // size))


def l1_budget(width: int, itemsize: int, hessian_bytes: int) -> tuple[int, int]:
    """Return how many L1 columns to solve together, and how many weights a working set may have."""
    limit = min(width + 1, max(SMALLEST_SET, isqrt(hessian_bytes // itemsize)))
    return max(1, hessian_bytes // (itemsize * limit**2)), limit


def sparse_columns(width: int) -> int:
    """Return how many columns of sparse features to solve together: what they share is little, their arrays large."""
    return max(1, min(8, (1 << 16) // (width + 1)))


def computing_bytes(n: int, width: int, itemsize: int, row: int = 0) -> int:
    """Return what computing the similarities takes, beside the features themselves: some blocks of them.

    ``row`` are the bytes that one row takes meanwhile; blocks are cut to it.
    """
    blocks = COMPUTED * min(COMPUTE_BYTES * itemsize // 4, 2 * itemsize * n * width)
    working = min(n * row, max(WORK_BYTES, row))
    return max(blocks, working + min(KEPT, working))


def converting_bytes(n: int, width: int, itemsize: int, stored: int, n_jobs: int) -> int:
    """Return what blocks take that are stored in fewer bytes, converted as they are read: one on every thread."""
    return n_jobs * min(COARSE_BYTES * itemsize // stored, itemsize * n * width)


def newton_bytes(n: int, width: int, n_columns: int, itemsize: int, storage: str, n_jobs: int, max_rank: int) -> int:
    """Return what the L2 solver takes beside the features, with a preconditioner of at most ``max_rank``.

    Counted are the arrays of (n, n_columns) and (width, n_columns), the preconditioner's coordinates, vectors and
    sketch, and what is under way in a pass.
    """
    size = width + 1
    # with the coordinates of the last preconditioner, where the next C of a path calls for another
    rows = n * (itemsize * ROW_ARRAYS * n_columns + 2 * n_columns + 32)
    rows += itemsize * sample_rows(n, max_rank) * max_rank
    columns = size * 8 * COLUMN_ARRAYS * n_columns
    tests = size * 2 * max_rank
    sketch = 8 * SKETCH_ARRAYS * tests + _pass_bytes(n, width, itemsize, storage, n_jobs, itemsize * tests)
    passing = _pass_bytes(n, width, itemsize, storage, n_jobs, itemsize * size * n_columns)
    steps = passing + max(
        _factor_bytes(sample_rows(n, max_rank), max_rank, n_columns, itemsize, n_jobs) + itemsize * size * max_rank,
        _factor_bytes(sample_rows(n, size), size, n_columns, itemsize, n_jobs) if sampled(size, max_rank) else 0,
    )
    return rows + columns + max(sketch, steps)


def sampled(size: int, max_rank: int) -> bool:
    """Return whether whole Hessians may be formed from some rows, where so many eigenvectors will not do."""
    return size <= MOST_SAMPLED and max_rank >= last_rank(size)


def _factor_bytes(rows: int, rank: int, n_columns: int, itemsize: int, n_jobs: int) -> int:
    """Return what a preconditioner's coordinates and its factors for all columns take."""
    under_way = 2 * min(n_jobs, n_columns) * min(CACHE_BYTES, itemsize * rows * rank)
    return itemsize * rows * rank + 2 * 8 * n_columns * rank**2 + under_way


def l1_bytes(n: int, width: int, n_columns: int, itemsize: int, storage: str, n_jobs: int, hessian_bytes: int) -> int:
    """Return what the L1 solver takes beside the features.

    Counted are the arrays of (n, n_columns) and (width, n_columns); the Hessians, with two copies of one for every
    thread; the rows gathered for them; and the blocks under way in a pass.
    """
    size = width + 1
    together, largest = l1_budget(width, itemsize, hessian_bytes)
    together = min(together, n_columns)
    at_once = min(together, n_jobs)
    hessians = itemsize * largest**2 * (together + 2 * at_once)
    gathered = 4 * at_once * min(itemsize * n * size, COARSE_BYTES)
    block = min(DISK_BYTES, itemsize * n * width) if storage == "disk" else 0  # of memory, blocks are views
    passing = _pass_bytes(n, width, itemsize, storage, n_jobs, max(block, itemsize * size * n_columns))
    return (L1_ROW_ARRAYS * itemsize * n + 8 * COLUMN_ARRAYS * size) * n_columns + hessians + gathered + passing


def _pass_bytes(n: int, width: int, itemsize: int, storage: str, n_jobs: int, result: int) -> int:
    """Return what is under way in a pass over the features: blocks at work, and results that wait to be added up."""
    block, copies = {"memory": (COARSE_BYTES, 1), "disk": (DISK_BYTES, 2), "recompute": (COMPUTE_BYTES, 2)}[storage]
    whole = itemsize * n * width
    n_blocks = ceil(whole / block)
    at_once = 1 if storage == "recompute" else n_jobs  # each block is then computed on all threads
    waiting = n_waiting(at_once) + 1
    return min(at_once, n_blocks) * copies * min(block, whole) + min(waiting, n_blocks) * result


def nystrom_bytes(sizes: Sequence[int], n: int, itemsize: int, n_jobs: int) -> int:
    """Return what decomposing a matrix for each of the bases takes: its eigenvectors, or before them its sum."""
    entries = sum(size**2 for size in sizes)
    n_blocks = ceil(itemsize * n * sum(sizes) / CACHE_BYTES)
    waiting = min(n_waiting(n_jobs) + 1, n_blocks)
    return max(8 * EIGEN_ARRAYS * max(sizes) ** 2, (waiting * itemsize + 2 * 8) * entries)


def pair_bytes(rows: int, spectrum: str | None, trusted: bool) -> int:
    """Return what training one pair of classes takes: its matrix, LIBSVM's, and what is done about its spectrum."""
    if spectrum == "ignore" or (trusted and spectrum != "square"):
        more = 0
    else:
        more = {None: CHECK, "square": SQUARE}.get(spectrum, EIGEN)
    return (PAIR + more) * rows**2


def pairs_bytes(sizes: Sequence[int], itemsize: int, solve: int, jobs: int, keep: bool) -> int:
    """Return what training all pairs of classes takes, ``solve`` bytes each, ``jobs`` at a time.

    With ``keep``, the blocks within the classes are kept for the next pair. Beside them are the blocks between classes
    that wait for their turn, and what computing one takes.
    """
    first, second = sorted(sizes, reverse=True)[:2]
    n_pairs = len(sizes) * (len(sizes) - 1) // 2
    waiting = min(n_pairs, n_waiting(jobs) + 1) * first * second
    within = sum(size**2 for size in sizes) if keep else min(n_pairs, 4) * first**2
    need = jobs * solve + itemsize * (waiting + within + 2 * first * second)
    return need + min(KEPT, need)


def dual_bytes(rows: int, width: int, cache: int) -> int:
    """Return what the dual BE-SVM takes beside the features, for a largest pair of so many rows."""
    return 8 * rows * width + 8 * rows**2 + min(4 * rows**2, cache)


def copies_bytes(seen: Sequence[object]) -> int:
    """Return what a kernel SVM's copies of the items take: class by class, packed for comparing, and as exemplars."""
    different = {id(one): int(getattr(one, "nbytes", 0)) for one in seen}
    return COPIES * sum(different.values())
