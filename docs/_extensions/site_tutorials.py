"""The order in which the tutorials are shown: from the plainest data to the largest."""

from __future__ import annotations

ORDER = (
    *("first_steps", "images_in_folders", "time_series", "strings_and_names", "sequences", "graphs", "mixed_columns"),
    *("your_own_similarity", "precomputed", "save_explain_prune", "million_rows", "cluster"),
)


class Order:
    """The place of a script among the others; those that the list does not name come last, by their names."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, filename: str) -> tuple[int, str]:
        name = filename.removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)
