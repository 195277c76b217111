"""Tables as plain text."""

from collections.abc import Collection, Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Return rows of texts below their headings; the columns ``right`` are flush on that side.

    Columns with nothing in them are left out.

    Examples
    --------
    >>> print(table(["class", "rows", "note"], [["cat", "1,200", ""], ["dog", "7", ""]], right=[1]))
    class   rows
    cat    1,200
    dog        7
    """
    used = [k for k in range(len(heads)) if any(row[k] for row in rows)]
    widths = {k: max(len(heads[k]), *(len(row[k]) for row in rows)) for k in used}

    def line(cells: Sequence[str]) -> str:
        return "  ".join(cells[k].rjust(widths[k]) if k in right else cells[k].ljust(widths[k]) for k in used).rstrip()

    return "\n".join(line(cells) for cells in (heads, *rows)) if used else ""
