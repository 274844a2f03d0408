"""Exactness and degrees of freedom in explanations: texts, intervals, selections and archives."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxshap

X, BACKGROUND = np.eye(2, 5, dtype=np.float32), np.zeros((1, 5), np.float32)


def explained(model=lambda rows: rows[:, 0] * rows[:, 1] + rows.sum(1), **options):
    return jaxshap.explain(model, X, BACKGROUND, **options)


@pytest.fixture(scope="module")
def sampled():
    return explained(estimator=jaxshap.Permutation(), budget=26)  # three draws


def test_exact_explanations_say_so_and_sampled_ones_do_not(sampled):
    exact = explained()
    assert exact.exact
    assert "(exact)" in repr(exact)
    assert not sampled.exact
    assert "(exact)" not in repr(sampled)
    assert (sampled.std_error > 0).all()  # though every draw says the same


def test_intervals_are_those_of_students_t(sampled):
    np.testing.assert_array_equal(sampled.degrees, 2)
    lower, upper = sampled[0, 1:3].interval(0.9)
    half = stats.t.ppf(0.95, 2) * sampled.std_error[:1, 1:3]
    np.testing.assert_allclose(upper - lower, 2 * half, rtol=1e-5, atol=1e-9)


def test_archives_hold_both_and_older_ones_still_load(sampled, tmp_path):
    for number, ex in enumerate((sampled, explained())):
        ex.save(tmp_path / f"{number}.npz")
        loaded = jaxshap.load(tmp_path / f"{number}.npz")
        assert loaded.exact is ex.exact
        np.testing.assert_array_equal(loaded.degrees, ex.degrees)
        with np.load(tmp_path / f"{number}.npz") as archive:
            older = {name: archive[name] for name in archive.files}
        del older["exact"], older["degrees"]
        np.savez(tmp_path / "older.npz", **older)
        old = jaxshap.load(tmp_path / "older.npz")
        assert old.exact is ex.exact  # as Exact() tells
        assert old.degrees == np.inf


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_models_in_half_precision_have_no_error_of_0_that_is_not_exact(dtype):
    def model(rows):
        return rows.astype(dtype).sum(1)

    ex = explained(model, estimator=jaxshap.Kernel(), budget=24)
    assert not ex.exact
    assert (ex.std_error > 0).all()
