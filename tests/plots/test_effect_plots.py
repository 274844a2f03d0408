"""Pictures of effects show what the records say."""

import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.patches import Rectangle

import jaxshap
from jaxshap import plots


def bilinear(rows):
    return rows[:, 0] + rows[:, 1] + 2 * rows[:, 0] * rows[:, 1]


def correlated(count):
    rng = np.random.default_rng(0)
    return rng.multivariate_normal(np.zeros(3), 0.3 + 0.7 * np.eye(3), size=count)


ROWS = np.concatenate([correlated(60), np.arange(60)[:, None] % 3], axis=1).astype(np.float32)


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def two_outputs(x):
    return jnp.stack([bilinear(x), x[:, 3]], axis=1)


def test_ice_draws_some_rows_and_the_mean_of_all_in_the_axes_it_is_given():
    curves = jaxshap.effects.ice(bilinear, ROWS, 0, grid_resolution=7)
    before = np.array(curves.values)
    ax = pyplot.subplots()[1]
    assert plots.ice(curves, max_display=10, ax=ax) is ax
    lines = [line for line in ax.lines if len(line.get_xdata()) == 7]
    assert len(lines) == 11
    np.testing.assert_allclose(lines[-1].get_ydata(), curves.values.mean(0), atol=1e-5)
    np.testing.assert_array_equal(curves.values, before)
    assert ax.get_xlabel() == "x0"
    assert "10 of 60 rows" in ax.get_legend().texts[0].get_text()


@pytest.mark.parametrize("features", [0, 3, (0, 1), (0, 3)])
def test_pdp_draws_one_feature_or_two_numbers_or_categories(features):
    ax = plots.pdp(
        jaxshap.effects.pdp(bilinear, ROWS, features, categorical=[3], grid_resolution=5)
    )
    pyplot.gcf().canvas.draw()
    assert ax.get_xlabel() == ("x3" if features == 3 else "x0")
    if features == 3:
        assert [tick.get_text() for tick in ax.get_xticklabels()] == [
            f"{level}\n20 rows" for level in range(3)
        ]
    if isinstance(features, tuple):
        assert ax.get_ylabel() == f"x{features[1]}"


def test_ale_draws_its_curve_with_a_band_and_a_mark_a_row():
    effect = jaxshap.effects.ale(bilinear, ROWS, 1, bins=5)
    ax = plots.ale(effect)
    assert any(np.array_equal(line.get_ydata(), effect.values) for line in ax.lines)
    assert any(len(line.get_xdata()) == 60 for line in ax.lines)
    band = ax.collections[0].get_datalim(ax.transData)
    np.testing.assert_allclose(band.y1, (effect.values + 1.96 * effect.std_error).max(), rtol=1e-5)


def test_cells_without_rows_are_hatched_and_the_legend_says_why():
    effect = jaxshap.effects.ale(bilinear, ROWS, (0, 1), bins=6)
    ax = plots.ale(effect)
    hatched = [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch.get_hatch()]
    assert len(hatched) == effect.filled.sum() > 0
    assert "no rows" in ax.get_legend().texts[0].get_text()
    held = [effect.values[i : i + 2, j : j + 2] for i, j in np.argwhere(~effect.filled)]
    np.testing.assert_allclose(ax.collections[0].get_clim()[1], np.abs(held).max(), rtol=1e-5)


def test_what_is_outside_the_support_is_blank_and_said_to_be():
    effect = jaxshap.effects.pdp(
        bilinear, ROWS[:, :3], (0, 1), grids={0: [0.0, 0.1, 40.0], 1: [0.0, 0.1]}, inside=0.95
    )
    assert "blank" in plots.pdp(effect).get_title()


def test_one_output_is_drawn_by_name_or_number_and_must_be_named():
    effect = jaxshap.effects.pdp(two_outputs, ROWS, 0, output_names=["yes", "no"])
    by_name, by_number = plots.pdp(effect, output="no"), plots.pdp(effect, output=1)
    assert by_name.get_ylabel() == by_number.get_ylabel() == "mean prediction, no (PDP)"
    np.testing.assert_array_equal(by_name.lines[0].get_ydata(), effect.values[:, 1])
    with pytest.raises(ValueError, match=r"2 outputs \['yes', 'no'\]"):
        plots.pdp(effect)
    with pytest.raises(ValueError, match="single one"):
        plots.ale(jaxshap.effects.ale(bilinear, ROWS, 0), output=1)
    with pytest.raises(ValueError, match="average"):
        plots.ice(jaxshap.effects.ice(bilinear, ROWS, (0, 1), grid_resolution=3))
