"""The bar on a terminal: how many coalitions are evaluated, and a note at its end."""

from collections.abc import Callable

from tqdm import tqdm

Note = Callable[[int], str] | None  # what the bar says at its end, asked with how many are done


def shown_bar(total: int, done: int, progress: bool | None, note: Note) -> tqdm:
    """A bar; where `progress` is None, on a terminal alone and after two seconds."""
    disable, delay = None if progress is None else not progress, 0 if progress else 2
    how = {"unit": " coalitions", "leave": False, "disable": disable, "delay": delay}
    return tqdm(total=total, initial=done, postfix=None if note is None else note(done), **how)


def move_bar(bar: tqdm, done: int, note: Note) -> None:
    if note is not None:
        bar.set_postfix_str(note(done), refresh=False)
    bar.update(done - bar.n)
