"""Saved explanations that were altered are refused, before anything large is read."""

import io
import tracemalloc
import zipfile

import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap

RNG = np.random.default_rng(0)
EXPLANATION = jaxshap.explain(
    lambda rows: jnp.stack([rows.sum(1), rows[:, 0]], 1), RNG.normal(size=(3, 4)), np.zeros((1, 4))
)


@pytest.fixture
def saved(tmp_path):
    EXPLANATION.save(tmp_path / "explanation.npz")
    return tmp_path / "explanation.npz"


def npy(array, **options):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), **options)
    return file.getvalue()


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


ALTERED = {
    "fewer rows": {"values.npy": npy(np.zeros((2, 4, 2)))},
    "errors of another shape": {"std_error.npy": npy(np.zeros((3, 4)))},
    "values as texts": {"values.npy": npy(np.full((3, 4, 2), "a"))},
    "values as objects": {"values.npy": npy(np.full((3, 4, 2), None), allow_pickle=True)},
    "complex values": {"values.npy": npy(np.zeros((3, 4, 2), complex))},
    "a name too few": {"feature_names.npy": npy(["a", "b", "c"])},
    "names as numbers": {"feature_names.npy": npy(np.arange(4))},
    "an unknown member": {"more.npy": npy(np.zeros(3))},
    "no array": {"values.npy": b"values"},
    "a folder that leads away": {"../values.npy": npy(np.zeros(3))},
    "a header that lies": {"values.npy": npy(np.zeros((3, 4, 2)))[:-8]},
}


@pytest.mark.parametrize("case", ALTERED)
def test_what_was_altered_is_refused(saved, case):
    write(saved, members(saved) | ALTERED[case])
    with pytest.raises(jaxshap.InputError):
        jaxshap.load(saved)


def test_a_member_is_missed(saved):
    files = members(saved)
    for name in ("values.npy", "std_error.npy", "base_values.npy", "feature_names.npy"):
        write(saved, {other: content for other, content in files.items() if other != name})
        with pytest.raises(jaxshap.InputError, match=name.removesuffix(".npy")):
            jaxshap.load(saved)


def test_an_unknown_member_is_not_decompressed(saved):
    write(saved, members(saved) | {"bomb.npy": npy(np.zeros(2**25, np.uint8))})
    assert saved.stat().st_size < 2**17
    tracemalloc.start()
    with pytest.raises(jaxshap.InputError, match="bomb"):
        jaxshap.load(saved)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2**22


def test_flipped_bits_and_cut_files_are_refused_or_change_nothing(saved):
    """Every member has a checksum; what is not covered by one says nothing of the values."""
    content, rng = saved.read_bytes(), np.random.default_rng(1)
    for place, bit in zip(rng.integers(0, len(content), 300), rng.integers(0, 8, 300), strict=True):
        damaged = bytearray(content)
        damaged[place] ^= 1 << bit
        saved.write_bytes(damaged)
        try:
            loaded = jaxshap.load(saved)
        except jaxshap.InputError:
            continue
        for field in ("values", "std_error", "base_values", "data"):
            np.testing.assert_array_equal(getattr(loaded, field), getattr(EXPLANATION, field))
        assert loaded.feature_names == EXPLANATION.feature_names
    for length in rng.integers(0, len(content), 30):
        saved.write_bytes(content[:length])
        with pytest.raises(jaxshap.InputError):
            jaxshap.load(saved)
