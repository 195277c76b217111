"""How many bytes each kind of work takes, and the budgets that follow: arithmetic alone, for the plan.

All are upper estimates, measured against the peaks of processes (tests/blocks). ``n`` rows of ``width`` features of
``itemsize`` bytes are trained in ``n_columns`` columns by ``n_jobs`` threads.
"""

from collections.abc import Sequence
from math import ceil, isqrt

from besvm._support.threads import n_waiting
from besvm.blocks.state import ROWS_EACH as FILE_ROWS
from besvm.blocks.stores import CACHE_BYTES, COARSE_BYTES, COMPUTE_BYTES, DISK_BYTES, READERS, WORK_BYTES

HESSIAN_BYTES = 1 << 28  # what the Hessians of the L1 columns solved together may take
SPARING = 8  # times less, where memory is short
SMALLEST_SET = 32  # weights that a working set of the L1 solver may always have
FEWEST, MOST, MOST_WHOLE = 128, 1024, 2048  # eigenvectors of a preconditioner; weights of a Hessian formed whole
LARGEST_SAMPLE = 1 << 28  # numbers in the rows that they are found from
ROWS_EACH, SAMPLE = 16, 1 << 18  # rows of its sample for each of them, or numbers in those rows: whichever is more
PAID = 24  # multiplications for each of a pass that a first preconditioner may take: they run faster than those of one
NARROW = 8  # columns that a pass takes as long as besides its own: reading the features is not for nothing
KEPT = 3 << 24  # what the allocator keeps of all that was freed
COMPUTED = 8  # blocks: one of similarities, what a similarity takes beside it, and what is compiled on first use
ROW_ARRAYS = 5  # arrays of (n, n_columns) that the L2 solver holds at once: slacks, change, products, margins of two C
ROW_COPIES = 4  # of what is kept of rows in files, on each thread: read, turned, and what is made of them
L1_ROW_ARRAYS = 10  # the same of the L1 solver, which works on whole arrays
COLUMN_ARRAYS = 12  # of (width, n_columns), in float64
SKETCH_ARRAYS = 3  # of (width, test vectors), in float64
PACKED = 5  # times the exemplars: themselves, what is packed of them, and what packing makes for a while
EIGEN_ARRAYS = 7  # of a matrix's own size, in float64, that its eigenvectors take, with their work space

# for every entry of a pair's matrix: float64 itself and LIBSVM's float32 cache, then what the spectrum takes
PAIR, CHECK, SQUARE, EIGEN = 12, 8, 16, 48
COPIES = 3  # of the items that a kernel SVM compares
PAIR_VIEW = 40  # for every entry of a pair's matrix that is looked at: itself, its spectrum fixed, its eigenvectors


def first_rank(n: int, size: int, n_columns: int) -> int:
    """Return how many eigenvectors a preconditioner begins with: it then costs as much as some passes.

    The sketch takes 8 · rows · size · rank multiplications, the Hessians of all columns, in four steps or so, 4 ·
    rows · rank² each. More of either would have to save more passes than are usual.
    """
    budget = PAID * n * (n_columns + NARROW)
    rank = min(isqrt(budget // (8 * ROWS_EACH)), int((budget * size / (4 * ROWS_EACH * n_columns)) ** (1 / 3)))
    return min(max(FEWEST, rank), last_rank(size))


def last_rank(size: int) -> int:
    """Return how many eigenvectors at most, where passes have become many; all there are: Hessians are formed whole."""
    return size if size <= MOST_WHOLE else max(1, min(MOST, size // 4, LARGEST_SAMPLE // (ROWS_EACH * size)))


def sample_rows(n: int, rank: int) -> int:
    """Return how many rows the eigenvectors, and the Hessians within their span, are found from."""
    return min(n, max(ROWS_EACH * rank, SAMPLE // rank))


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


def row_bytes(n_columns: int, itemsize: int) -> int:
    """Return what the L2 solver keeps of a row in arrays of (n, n_columns)."""
    return (itemsize * ROW_ARRAYS + 2) * n_columns


def newton_bytes(
    n: int,
    width: int,
    n_columns: int,
    itemsize: int,
    storage: str,
    n_jobs: int,
    max_rank: int,
    rows_in_files: bool = False,
) -> int:
    """Return what the L2 solver takes beside the features, with a preconditioner of at most ``max_rank``.

    Counted are the arrays of (n, n_columns) and (width, n_columns), the preconditioner, the sample and the sketch that
    it is made from, and what is under way in a pass.
    """
    size = width + 1
    at_work = min(n, ROW_COPIES * n_jobs * FILE_ROWS) if rows_in_files else n
    rows = row_bytes(n_columns, itemsize) * at_work + 32 * n
    columns = size * 8 * COLUMN_ARRAYS * n_columns
    sampled = sample_rows(n, max_rank)
    # with those of the last one, of at most half the rank, where the next C of a path calls for another
    kept = 3 * itemsize * (sampled + (size if max_rank < size else 0)) * max_rank // 2
    if 3 * max_rank < size:
        sketch = 8 * SKETCH_ARRAYS * size * 2 * max_rank
    else:
        sketch = nystrom_bytes([size], sampled, itemsize, n_jobs)
    sample = itemsize * sampled * size
    gathering = min(2 * sample, (n_waiting(n_jobs) + 1 + 2 * n_jobs) * COARSE_BYTES * sampled // n)
    making = sample + itemsize * sampled * 2 * max_rank + max(gathering, sketch)
    passing = _pass_bytes(n, width, itemsize, storage, n_jobs, itemsize * size * n_columns)
    under_way = 2 * min(n_jobs, n_columns) * min(CACHE_BYTES, itemsize * sampled * max_rank)
    steps = 2 * 8 * n_columns * max_rank**2 + under_way
    return rows + columns + kept + passing + max(making, steps)


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
    block = {"memory": COARSE_BYTES, "disk": DISK_BYTES, "recompute": COMPUTE_BYTES}[storage]
    whole = itemsize * n * width
    n_blocks = ceil(whole / block)
    at_once = 1 if storage == "recompute" else n_jobs  # each block is then computed on all threads
    waiting = n_waiting(at_once) + 1
    copies = {"memory": 1, "disk": 2, "recompute": 2}[storage] * min(at_once, n_blocks)
    if storage == "disk":  # what is read ahead of the work
        copies = min(copies + waiting + READERS, 2 * n_blocks)
    return copies * min(block, whole) + min(waiting, n_blocks) * result


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
