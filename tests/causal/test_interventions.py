"""The theorems on adjustment and direct effects, by intervention in structural causal models."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import jaxshap
from jaxshap.causal import StructuralModel, adjusted_mean, direct_effect, identifies_direct_effect

NUM_SAMPLES = 20_000

DOSES = StructuralModel(
    {  # out of order on purpose
        "health": (("age", "dose", "pain"), lambda noise, age, dose, pain: (
            dose * (2 - age) + age**2 - pain + 0.5 * noise
        )),
        "pain": (("dose",), lambda noise, dose: jnp.sin(dose) + 0.3 * noise),
        "dose": (("age",), lambda noise, age: 0.8 * age + noise),
        "age": ((), lambda noise: noise),
    }
)  # fmt: skip


def health_of(x):
    """E[health | dose, age]: the mean of pain given the dose is sin(dose)."""
    dose, age = x[:, 0], x[:, 1]
    return dose * (2 - age) + age**2 - jnp.sin(dose)


def frame(sample, names):
    return pd.DataFrame({name: np.asarray(sample[name], np.float64) for name in names})


def mean_and_error(numbers):
    numbers = np.asarray(numbers, np.float64)
    return numbers.mean(), numbers.std(ddof=1) / np.sqrt(len(numbers))


def assert_agree(value, error, other, other_error):
    """Independent means: false alarm 6e-5 each."""
    assert np.all(np.abs(value - other) < 4 * np.hypot(error, other_error))


def test_an_intervention_cuts_the_causes_and_leaves_all_but_effects_as_they_were():
    nature, forced = (DOSES.sample(0, 200, do=do) for do in (None, {"dose": 1.5}))
    np.testing.assert_array_equal(nature["age"], forced["age"])
    np.testing.assert_array_equal(forced["dose"], 1.5)
    noise = nature["pain"] - jnp.sin(nature["dose"])
    np.testing.assert_allclose(forced["pain"], jnp.sin(1.5) + noise, atol=1e-6)
    assert list(nature) == ["health", "pain", "dose", "age"]
    each = DOSES.sample(0, 200, do={"dose": nature["dose"]})  # to what they are: nothing changes
    np.testing.assert_allclose(each["health"], nature["health"], atol=1e-6)
    again = jax.jit(lambda key: DOSES.sample(key, 200)["health"])(jax.random.key(0))
    np.testing.assert_allclose(again, nature["health"], atol=1e-5)


def test_a_structural_model_is_a_causal_graph():
    assert set(DOSES.edges) == {
        ("age", "health"), ("dose", "health"), ("pain", "health"), ("dose", "pain"), ("age", "dose")
    }  # fmt: skip
    assert jaxshap.causal.satisfies_backdoor(DOSES, "dose", "health", "age")
    assert jaxshap.causal.parent_adjustment(DOSES, "dose") == {"age"}
    alone = StructuralModel({"a": ((), lambda e: e), "b": ((), lambda e: e)})
    assert jaxshap.causal.d_separated(alone, "a", "b")


def test_adjustment_is_the_mean_outcome_under_intervention_and_regression_alone_is_not():
    population = DOSES.sample(1, NUM_SAMPLES)
    X = frame(population, ["dose", "age"])
    doses = np.array([-1.0, 0.5, 2.0])
    mean = adjusted_mean(health_of, X, "dose", at=doses, graph=DOSES, outcome="health")
    assert mean.values.shape == (3,)
    assert (mean.treatment, mean.adjustment) == ("dose", ("age",))
    for number, dose in enumerate(doses):
        forced = DOSES.sample(2 + number, NUM_SAMPLES, do={"dose": dose})["health"]
        assert_agree(mean.values[number], mean.std_error[number], *mean_and_error(forced))
    # E[health | dose] is another function: age comes with the dose. Var(age | dose) = 1/1.64.
    age = 0.8 * 2.0 / 1.64
    seen = 2.0 * (2 - age) + age**2 + 1 / 1.64 - np.sin(2.0)
    assert abs(seen - mean.values[2]) > 20 * mean.std_error[2]


def test_adjustment_with_a_fitted_model_finds_a_linear_effect_that_is_confounded():
    linear = StructuralModel(
        {
            "z": ((), lambda noise: noise),
            "x": (("z",), lambda noise, z: z + noise),
            "y": (("x", "z"), lambda noise, x, z: 2 * x - 3 * z + noise),
        }
    )
    data = frame(linear.sample(0, 4_000), ["x", "z", "y"])
    adjusted = LinearRegression().fit(data[["x", "z"]], data.y)
    mean = adjusted_mean(adjusted, data[["x", "z"]], "x", at=[0.0, 1.0], graph=linear, outcome="y")
    worlds = [linear.sample(3, 4_000, do={"x": x})["y"].mean() for x in (0.0, 1.0)]
    assert abs(worlds[1] - worlds[0] - 2) < 1e-4  # of the same individuals
    assert abs(np.diff(mean.values)[0] - 2) < 4 / np.sqrt(4_000)  # the error of the slope: 1/√n
    alone = LinearRegression().fit(data[["x"]], data.y)
    assert abs(alone.coef_[0] - 0.5) < 0.1
    with pytest.raises(jaxshap.InputError, match=r"direct causes \['z'\], which do"):
        adjusted_mean(alone, data[["x"]], "x", at=1.0, graph=linear, outcome="y")


def test_adjusting_for_an_effect_of_the_treatment_is_refused():
    X = frame(DOSES.sample(0, 50), ["dose", "age", "pain"])
    with pytest.raises(jaxshap.InputError, match="does not identify the effect of 'dose'"):
        adjusted_mean(lambda x: x[:, 0], X, "dose", at=1.0, graph=DOSES, outcome="health")


INPUTS = StructuralModel(
    {
        "root": ((), lambda noise: noise),
        "between": (("root",), lambda noise, root: root + 0.5 * noise),
        "last": (("between", "root"), lambda noise, b, r: b * r + 0.5 * noise),
    }
)
NAMES = list(INPUTS.mechanisms)


def bent(x):
    return x[:, 0] * x[:, 1] + jnp.tanh(x[:, 2]) * x[:, 0] + x[:, 1] * x[:, 2]


def natural_direct_effect(features, at, key, reference=None):
    """E[m(at, rest(x*)) − m(x*, rest(x*))], by intervention; x* is drawn as nature draws it."""
    first, second = jax.random.split(jax.random.key(key))
    drawn = INPUTS.sample(first, NUM_SAMPLES)
    starts = {name: drawn[name] for name in features}
    if reference is not None:
        starts = dict(zip(features, reference, strict=True))
    world = INPUTS.sample(second, NUM_SAMPLES, do=starts)
    before = jnp.stack([world[name] for name in NAMES], axis=1)
    ends = {name: jnp.full(NUM_SAMPLES, v) for name, v in zip(features, at, strict=True)}
    after = jnp.stack([(world | ends)[name] for name in NAMES], axis=1)
    return mean_and_error(bent(after) - bent(before))


@pytest.mark.parametrize("features", [["root"], ["root", "between"]])
def test_partial_dependence_is_the_natural_direct_effect_of_features_without_causes(features):
    """With the reference averaged over nature, as the theorem has it, and the same constant."""
    assert identifies_direct_effect(INPUTS, features)
    at = [1.2, -0.7][: len(features)]
    X = frame(INPUTS.sample(5, NUM_SAMPLES), NAMES)
    effect = direct_effect(bent, X, features, at=at, graph=INPUTS)
    assert_agree(effect.values, effect.std_error, *natural_direct_effect(features, at, 6))
    pdp = bent(X.assign(**dict(zip(features, at, strict=True))).to_numpy()).mean()
    np.testing.assert_allclose(effect.values, pdp - bent(X.to_numpy()).mean(), atol=1e-5)


@pytest.mark.parametrize("features", [["last"], ["root", "last"]])
def test_partial_dependence_is_the_natural_direct_effect_up_to_a_constant(features):
    assert identifies_direct_effect(INPUTS, features)
    points = np.array([[1.2, -0.7], [-0.4, 0.9]])[:, : len(features)]
    X = frame(INPUTS.sample(7, NUM_SAMPLES), NAMES)
    effect = direct_effect(bent, X, features, at=points[0], reference=points[1])
    one, other = (natural_direct_effect(features, at, 8 + n) for n, at in enumerate(points))
    assert_agree(effect.values, effect.std_error, one[0] - other[0], np.hypot(one[1], other[1]))


def test_a_feature_between_others_has_another_natural_direct_effect_than_partial_dependence():
    assert not identifies_direct_effect(INPUTS, ["between"])
    X = frame(INPUTS.sample(9, NUM_SAMPLES), NAMES)
    effect = direct_effect(bent, X, ["between"], at=2.0, reference=-1.0)
    ends = [natural_direct_effect(["between"], [at], 10 + n) for n, at in enumerate((2.0, -1.0))]
    value, error = ends[0][0] - ends[1][0], np.hypot(ends[0][1], ends[1][1])
    assert abs(effect.values - value) > 10 * np.hypot(effect.std_error, error)  # 3 and 0


def test_a_single_forced_reference_changes_the_effects_of_a_feature():
    """Why the reference is averaged: the other inputs follow from a reference that is forced."""
    X = frame(INPUTS.sample(11, NUM_SAMPLES), NAMES)
    effect = direct_effect(bent, X, "root", at=1.2, reference=-1.0)
    value, error = natural_direct_effect(["root"], [1.2], 12, reference=[-1.0])
    assert abs(effect.values - value) > 10 * np.hypot(effect.std_error, error)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: StructuralModel({"a": (("b",), lambda e, b: b)}), "have no mechanism"),
        (
            lambda: StructuralModel({"a": (("b",), lambda e, b: b), "b": (("a",), lambda e, a: a)}),
            "circle",
        ),
        (lambda: StructuralModel({"a": lambda e: e}), "names of its causes"),
        (lambda: StructuralModel({"a": ("b", lambda e: e)}), "names of its causes"),
        (lambda: StructuralModel({"a": ((), lambda e: 1.0)}).sample(0, 5), "one number per"),
        (lambda: DOSES.sample(0, 5, do={"weight": 1.0}), "the variables are"),
        (lambda: DOSES.sample(0, 5, do={"dose": [1.0, 2.0]}), "one for each of the 5"),
        (lambda: DOSES.sample(0, 5, do=[1.0]), "pass a dict"),
        (lambda: adjusted_mean(health_of, np.eye(2), 0, at=1.0, graph=DOSES), "go together"),
        (lambda: adjusted_mean(health_of, np.eye(2), [0, 1], at=1.0), "pass one"),
        (lambda: adjusted_mean(health_of, np.eye(2), 0, at=[]), "at= is empty"),
    ],
)
def test_what_cannot_be_done_says_what_to_do(call, message):
    with pytest.raises(jaxshap.InputError, match=message):
        call()
