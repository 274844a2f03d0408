"""Who plays: which parts of an input, an array or any pytree of arrays, come and go together."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import Int, PyTree

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import as_array, read_whole
from jaxshap.inputs.tables import MAX_ENTRIES, is_list, read_lengths, read_names

STAYS = -1  # the owner of what belongs to no player and always has the row's own value


@dataclasses.dataclass(frozen=True, eq=False)
class Players:
    """The player that owns each entry of one input, and the names of the players.

    Args:
        owner: has the structure of the input; each of its integer arrays matches the leading axes
            of its leaf, without the axis of rows, so that a map of pixels serves all channels.
            Entries of −1 belong to nobody: they are never taken away.
        names: one per player.

    Example:
        >>> import jaxshap, numpy as np
        >>> players = jaxshap.Players(np.array([0, 0, 1]), ("left", "right"))
        >>> X, background = np.array([[1.0, 2.0, 3.0]]), np.zeros((1, 3))
        >>> jaxshap.explain(lambda x: x.sum(1), X, background, groups=players).values.tolist()
        [[3.0, 3.0]]
    """

    owner: PyTree[Int[np.ndarray, "..."]]
    names: tuple[str, ...]

    def __post_init__(self):
        if not jax.tree.leaves(self.owner):
            raise InputError("there are no players: name what each of them owns.")
        owned = np.unique(np.concatenate([np.ravel(part) for part in jax.tree.leaves(self.owner)]))
        whole = np.issubdtype(owned.dtype, np.integer)
        if not whole or owned.min() < STAYS or owned.max() >= len(self.names):
            raise InputError(
                f"owners must be whole numbers from −1 (nobody) to {len(self.names) - 1}, the last "
                "player."
            )
        if idle := [name for number, name in enumerate(self.names) if number not in owned]:
            raise InputError(f"the players {idle} own nothing: leave them out.")

    def __len__(self) -> int:
        return len(self.names)

    @property
    def some_stay(self) -> bool:
        """Whether parts of the input belong to nobody."""
        return any((np.asarray(part) == STAYS).any() for part in jax.tree.leaves(self.owner))

    def check(self, example: PyTree, what: str) -> None:
        """Refuse inputs whose structure or shapes are not those that are owned.

        Args:
            example: inputs, rows in front.
            what: what they are called in the message.

        Raises:
            InputError: the structure or a shape differs.
        """
        structure, expected = jax.tree.structure(example), jax.tree.structure(self.owner)
        if structure != expected:
            raise InputError(
                f"{what} has the structure {structure}, and the players are those of {expected}."
            )
        named = jax.tree_util.tree_leaves_with_path(example)
        for (path, leaf), owner in zip(named, jax.tree.leaves(self.owner), strict=True):
            shape, owned = np.shape(leaf)[1:], np.shape(owner)
            if shape[: len(owned)] != owned:
                front = f", with channels in front, as by np.broadcast_to(label_map, {shape})"
                hint = "make them for the same shape" + (front if shape[1:] == owned else "")
                raise InputError(
                    f"{what}{jax.tree_util.keystr(path)} has inputs of shape {shape}, and the "
                    f"players are those of inputs of shape {owned}: {hint}."
                )


def patches(shape: Sequence[int], size: int | Sequence[int]) -> Players:
    """Blocks of an image, a series or a volume as players.

    `patches((28, 28), 4)` has 49 players, `patches((1000,), 50)` 20 windows. Axes after those of
    `shape`, such as colours, belong to the same patch; the last patch along an axis may be smaller.

    Args:
        shape: lengths of the axes that are divided.
        size: length of a patch along every axis, or one length per axis.

    Returns:
        `Players`, named by their place.

    Raises:
        InputError: a length is not positive, or there are too many or too few.

    Example:
        >>> import jaxshap
        >>> blocks = jaxshap.patches((2, 4), 2)
        >>> blocks.names, blocks.owner.tolist()
        (('0,0', '0,1'), [[0, 0, 1, 1], [0, 0, 1, 1]])
    """
    shape = read_lengths(shape, "shape")
    sizes = (
        read_lengths(size, "size") if is_list(size) else (read_whole(size, "size"),) * len(shape)
    )
    if len(sizes) != len(shape):
        raise InputError(f"patches of {sizes} in {shape}: pass one positive length for each axis.")
    counts = [-(-length // one) for length, one in zip(shape, sizes, strict=True)]
    places = np.indices(shape) // np.reshape(sizes, (-1,) + (1,) * len(shape))
    owner = np.ravel_multi_index(tuple(places), counts)
    return Players(owner, tuple(",".join(map(str, place)) for place in np.ndindex(*counts)))


def segments(label_map: Any, names: Sequence[str] | None = None) -> Players:
    """One player for each label of a map: superpixels, regions, sensors.

    Args:
        label_map: whole numbers; what is labelled −1 is never taken away.
        names: one per label, in increasing order of the labels; the labels themselves by default.

    Returns:
        `Players`.

    Raises:
        InputTypeError: labels are not whole numbers.
        InputError: there are too many or too few names.

    Example:
        >>> import jaxshap
        >>> regions = jaxshap.segments([[7, 7, 9], [7, 9, -1]], names=["sky", "sea"])
        >>> regions.names, regions.owner.tolist()
        (('sky', 'sea'), [[0, 0, 1], [0, 1, -1]])
    """
    labels = np.asarray(as_array(label_map, "label_map"))
    if not np.issubdtype(labels.dtype, np.integer):
        raise InputTypeError(
            f"labels are whole numbers, not {labels.dtype}: a segmentation has one for each pixel."
        )
    present = np.unique(labels[labels != STAYS])
    names = None if names is None else read_names(names, "names")
    if names is not None and len(names) != len(present):
        raise InputError(f"there are {len(names)} names for {len(present)} labels.")
    owner = np.where(labels == STAYS, STAYS, np.searchsorted(present, labels))
    return Players(owner, tuple(map(str, present if names is None else names)))


def tokens(length: int, names: Sequence[str] | None = None) -> Players:
    """The positions of a sequence as players, of token numbers or of vectors.

    Inputs are `(rows, length)` or `(rows, length, width)`. Absent tokens are those of the
    background: one row of a mask token, or of its vector.

    Args:
        length: of the sequence.
        names: one per position, such as the words; positions by default.

    Returns:
        `Players`.

    Raises:
        InputError: the length is not positive, or there are too many or too few names.

    Example:
        >>> import jaxshap
        >>> jaxshap.tokens(3, names=["not", "so", "bad"]).names
        ('not', 'so', 'bad')
    """
    length = read_whole(length, "length", most=MAX_ENTRIES)
    if names is None:
        return Players(np.arange(length), tuple(map(str, range(length))))
    names = read_names(names, "names")
    if len(names) != length:
        raise InputError(f"there are {len(names)} names for {length} tokens: pass as many.")
    return Players(np.arange(length), names)


def leaves(tree: PyTree) -> Players:
    """Every array of an input is one player.

    Args:
        tree: an example of the input, such as `{"image": ..., "age": ...}`.

    Returns:
        `Players`, named by where the arrays stand.

    Raises:
        InputError: there are no arrays.

    Example:
        >>> import jaxshap, numpy as np
        >>> jaxshap.leaves({"image": np.zeros((1, 4, 4)), "age": np.zeros((1,))}).names
        ('age', 'image')
    """
    paths, structure = jax.tree_util.tree_flatten_with_path(tree)
    if not paths:
        raise InputError("this input has no arrays: pass an example of it.")
    owner = jax.tree.unflatten(structure, [np.asarray(number) for number in range(len(paths))])
    return Players(owner, tuple(_name(path) for path, _ in paths))


def together(parts: PyTree) -> Players:
    """Players of an input whose leaves have players of their own.

    Args:
        parts: a tree of `Players`; None in the place of a leaf that is never taken away.

    Returns:
        `Players` of the whole input.

    Raises:
        InputTypeError: something in the tree is neither players nor None.

    Example:
        >>> import jaxshap
        >>> image, text = jaxshap.patches((2, 4), 2), jaxshap.tokens(2)
        >>> jaxshap.together({"image": image, "mask": None, "text": text}).names
        ('image 0,0', 'image 0,1', 'text 0', 'text 1')
    """

    def is_part(part):
        return part is None or isinstance(part, Players)

    paths, structure = jax.tree_util.tree_flatten_with_path(parts, is_leaf=is_part)
    if wrong := [type(part).__name__ for _, part in paths if not is_part(part)]:
        raise InputTypeError(
            f"together takes a tree of players, such as patches(...), and not {wrong}."
        )
    owners, names = [], []
    for path, part in paths:
        if part is None:
            owners.append(np.asarray(STAYS))
            continue
        if not isinstance(part.owner, np.ndarray):
            raise InputTypeError(f"the players of {_name(path)} must be those of one array.")
        owners.append(np.where(part.owner == STAYS, STAYS, part.owner + len(names)))
        names += [f"{_name(path)} {name}" for name in part.names]
    return Players(jax.tree.unflatten(structure, owners), tuple(names))


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".") or "input"
