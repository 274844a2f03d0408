"""explain with outputs=: some of many outputs, and memory for no more than those."""

import dataclasses
import functools
import tracemalloc

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

import jaxshap

RNG = np.random.default_rng(0)
CLASSES = 50
INNER, OUTER = (RNG.normal(size=shape).astype(np.float32) for shape in ((6, 16), (16, CLASSES)))
ROWS, BACKGROUND = (RNG.normal(size=(count, 6)).astype(np.float32) for count in (3, 4))
NAMES = [f"class {number}" for number in range(CLASSES)]


def on_device(x):
    return jax.nn.softmax(jnp.tanh(x @ INNER) @ OUTER)


def on_host(x):
    scores = np.exp(np.tanh(x @ INNER) @ OUTER)
    return scores / scores.sum(1, keepdims=True)


MODELS = {"device": on_device, "host": jaxshap.host(on_host)}


@functools.cache
def everything(kind):
    return jaxshap.explain(MODELS[kind], ROWS, BACKGROUND, output_names=NAMES)


def same(found, expected):
    np.testing.assert_allclose(found.values, expected.values, atol=1e-6)
    np.testing.assert_allclose(found.base_values, expected.base_values, atol=1e-6)


def top_numbers(count):
    return np.argsort(-on_host(ROWS), axis=1)[:, :count]


@pytest.mark.parametrize("kind", MODELS)
class TestChoice:
    def test_names_and_numbers_choose_outputs_and_name_them(self, kind):
        wanted = everything(kind)[:, :, ["class 7", "class 3"]]
        explain = functools.partial(jaxshap.explain, MODELS[kind], ROWS, BACKGROUND)
        named = explain(outputs=["class 7", "class 3"], output_names=NAMES)
        numbered = explain(outputs=[7, np.int64(3)])
        for found in (named, numbered):
            same(found, wanted)
        assert named.output_names == ("class 7", "class 3")
        assert numbered.output_names == ("output 7", "output 3")
        assert explain(outputs="class 7", output_names=NAMES).output_names == ("class 7",)

    def test_each_row_has_its_own_top(self, kind):
        model = MODELS[kind]
        found = jaxshap.explain(model, ROWS, BACKGROUND, outputs=jaxshap.Top(2), output_names=NAMES)
        assert found.output_names == ("top 1", "top 2")
        numbers = top_numbers(2)
        assert len(np.unique(numbers)) > 2  # rows differ
        assert found.row_outputs.tolist() == [[NAMES[i] for i in row] for row in numbers]
        whole = everything(kind)
        for row, own in enumerate(numbers):
            same(found[row], whole[row, :, own.tolist()])
        np.testing.assert_allclose(
            found.base_values + found.values.sum(1),
            np.take_along_axis(on_host(ROWS), numbers, 1),
            atol=1e-6,
        )

    def test_the_top_goes_with_groups_strata_and_draws_of_their_own(self, kind):
        groups = {"first": [0, 1]}
        background = RNG.normal(size=(32, 6)).astype(np.float32)
        separate = {"estimator": jaxshap.Leverage(), "separate_draws": True}
        for how in ({"estimator": jaxshap.Scattered()}, separate):
            how = {"groups": groups, "budget": 20} | how
            explain = functools.partial(jaxshap.explain, MODELS[kind], ROWS, background, **how)
            found, whole = explain(outputs=jaxshap.Top(1)), explain()
            expected = np.take_along_axis(whole.values, top_numbers(1)[:, None], 2)
            np.testing.assert_allclose(found.values, expected, atol=1e-5)

    def test_a_function_of_the_outputs_is_explained_and_named(self, kind):
        def margin(outputs):
            return outputs[:, 0] - outputs[:, 1]

        found = jaxshap.explain(MODELS[kind], ROWS, BACKGROUND, outputs=margin)
        whole = everything(kind)
        np.testing.assert_allclose(
            found.values, whole.values[..., 0] - whole.values[..., 1], atol=1e-6
        )
        assert found.value_function == "marginal (margin)"

    def test_what_is_not_there_is_refused_before_anything_is_masked(self, kind):
        explain = functools.partial(jaxshap.explain, MODELS[kind], ROWS, BACKGROUND)
        for outputs in (CLASSES, jaxshap.Top(CLASSES + 1)):
            with pytest.raises(jaxshap.InputError, match="the model has 50"):
                explain(outputs=outputs)
        with pytest.raises(jaxshap.InputError, match="49 output_names for 50 outputs"):
            explain(outputs=3, output_names=NAMES[1:])


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ("cat", "does not name its outputs"),
        (-1, "count from 0"),
        ([], "at least one output"),
        ([1, 1], "each once"),
    ],
)
def test_what_names_no_output_is_refused(outputs, message):
    with pytest.raises(jaxshap.InputError, match=message):
        jaxshap.explain(on_device, ROWS, BACKGROUND, outputs=outputs)


@pytest.mark.parametrize("outputs", [True, 1.5, [None]])
def test_what_is_no_choice_is_a_type_error(outputs):
    with pytest.raises(jaxshap.errors.InputTypeError, match="outputs="):
        jaxshap.explain(on_device, ROWS, BACKGROUND, outputs=outputs)


def test_a_name_that_is_not_there_shows_some_that_are():
    with pytest.raises(jaxshap.InputError, match=r"they are class 0, class 1, .*…"):
        jaxshap.explain(on_device, ROWS, BACKGROUND, outputs="cat", output_names=NAMES)


def test_a_model_with_one_output_and_what_does_not_go_together_are_refused():
    def single(x):
        return on_device(x)[:, 0]

    with pytest.raises(jaxshap.InputError, match="chooses columns"):
        jaxshap.explain(single, ROWS, BACKGROUND, outputs=0)
    reward = jaxshap.rewards.class_probability(0)
    with pytest.raises(jaxshap.InputError, match="omit outputs="):
        jaxshap.explain(on_device, ROWS, BACKGROUND, outputs=0, reward=reward)
    how = {"outputs": jaxshap.Top(1), "model_rows": 1000}
    with pytest.raises(jaxshap.InputError, match="Top"):
        jaxshap.explain(on_device, ROWS, BACKGROUND, **how)
    for count in (0, -1, True):
        with pytest.raises(jaxshap.InputError, match="whole number, 1 or more"):
            jaxshap.Top(count)


def test_classes_of_a_fitted_model_are_names():
    labels = np.array(["cat", "dog", "eel"])[RNG.integers(3, size=60)]
    table = RNG.normal(size=(60, 4))
    for fitted in (
        LogisticRegression().fit(table, labels),
        ExtraTreesClassifier(3, random_state=0).fit(table, labels),
    ):
        explain = functools.partial(jaxshap.explain, fitted, table[:2], table[:5])
        whole = explain()
        same(explain(outputs=["eel"]), whole[:, :, ["eel"]])
        top = explain(outputs=jaxshap.Top(1))
        totals = whole.base_values + whole.values.sum(1)
        best = totals.argmax(1)
        assert top.row_outputs[:, 0].tolist() == [whole.output_names[i] for i in best]
        np.testing.assert_allclose(
            top.base_values[:, 0] + top.values.sum(1)[:, 0], totals.max(1), atol=1e-6
        )


def test_interactions_of_trees_are_those_of_each_rows_own_outputs(tmp_path):
    """The diagonal of the matrix holds the values, so a mix of outputs would show."""
    table, labels = RNG.normal(size=(40, 3)), np.resize(["ant", "bee", "cat"], 40)
    fitted = ExtraTreesClassifier(3, random_state=0).fit(table, labels)
    top = jaxshap.explain(fitted, table[:4], table[:5], outputs=jaxshap.Top(2), interactions=2)
    assert top.row_outputs.tolist() != [top.row_outputs[0].tolist()] * 4
    diagonal = np.diagonal(top.interaction_matrix, axis1=1, axis2=2)  # (rows, outputs, features)
    np.testing.assert_allclose(np.moveaxis(diagonal, 2, 1), top.values, atol=1e-6)
    np.testing.assert_allclose(top.interactions.base_values, top.base_values, atol=1e-6)
    top.save(tmp_path / "top.npz")
    assert jaxshap.load(tmp_path / "top.npz").interactions.values.shape == (6, 4, 2)


@pytest.fixture(scope="module")
def top():
    how = {"outputs": jaxshap.Top(2), "output_names": NAMES}
    return jaxshap.explain(on_device, ROWS, BACKGROUND, **how)


class TestRowOutputs:
    def test_they_are_picked_with_rows_and_outputs(self, top):
        assert top[[2, 0]].row_outputs.tolist() == top.row_outputs[[2, 0]].tolist()
        assert top[1:, :, "top 2"].row_outputs.tolist() == top.row_outputs[1:, 1].tolist()

    def test_they_are_shown(self, top):
        for name in top.row_outputs[1]:
            assert f"value, {name}" in repr(top[1])
        assert "top 1" in repr(top)
        frame = top.to_frame()
        assert frame[frame.row == 2].output.unique().tolist() == top.row_outputs[2].tolist()

    def test_they_are_saved(self, top, tmp_path):
        for number, explanation in enumerate((top, top[:, :, 1])):
            explanation.save(tmp_path / f"{number}.npz")
            loaded = jaxshap.load(tmp_path / f"{number}.npz")
            assert loaded.row_outputs.tolist() == explanation.row_outputs.tolist()
        broken = dataclasses.replace(top, row_outputs=top.row_outputs[1:])
        broken.save(tmp_path / "broken.npz")
        with pytest.raises(jaxshap.InputError, match="row_outputs"):
            jaxshap.load(tmp_path / "broken.npz")

    def test_it_can_be_diagnosed(self, top):
        assert top.diagnose(budget=40).additivity.verdict


class TestMemory:
    """A thousand outputs, of which two are asked for."""

    wide = RNG.normal(size=(6, 1000)).astype(np.float32)

    @pytest.mark.parametrize("outputs", [[3, 999], jaxshap.Top(2)])
    def test_a_compiled_program_holds_what_is_asked_for(self, outputs):
        def model(x):
            return jnp.tanh(x @ self.wide)

        def compiled_bytes(**how):
            explanation = jaxshap.explain(model, ROWS, BACKGROUND, budget=16, **how)
            game = explanation.source.game()
            assert game.empty.shape[1:] == explanation.values.shape[2:]
            leaves, structure = jax.tree.flatten(game)
            coalitions = jnp.zeros((512, 6), bool)

            @jax.jit
            def program(leaves, coalitions):
                game = jax.tree.unflatten(structure, leaves)
                return jaxshap.evaluate(game, coalitions, batch_size=1)

            memory = program.lower(leaves, coalitions).compile().memory_analysis()
            return memory.output_size_in_bytes + memory.temp_size_in_bytes

        batch = 4 * (len(ROWS) + 1) * len(BACKGROUND) * 1000  # one coalition, padding counted
        assert compiled_bytes(outputs=outputs) < 6 * batch

    @pytest.mark.parametrize("outputs", [[3, 999], jaxshap.Top(2), lambda y: y[:, :2] ** 2])
    def test_a_host_model_leaves_behind_what_is_asked_for(self, outputs):
        wide, row = self.wide.repeat(2, 0), np.tile(ROWS, 2)
        model = jaxshap.host(lambda x: np.tanh(x @ wide))
        how = {"budget": 1000, "batch_size": 8, "estimator": jaxshap.Permutation()}
        jaxshap.explain(model, row, np.tile(BACKGROUND[:1], 2), outputs=outputs, **how)  # compiles
        tracemalloc.start()
        jaxshap.explain(model, row, np.tile(BACKGROUND[:1], 2), outputs=outputs, **how)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 900 * len(ROWS) * 4 * 1000 / 5  # the worths of all outputs are 11 MB
