"""Models as people have them, each with its own library; and columns that one feature became."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = (RNG.normal(size=(count, 4)).astype(np.float32) for count in (3, 5))


def explained(model, predict, rows=ROWS, background=BACKGROUND):
    """Values of the model, those of its outputs as a plain function, and that they sum to them."""
    result = jaxshap.explain(model, rows, background)
    plain = jaxshap.explain(jaxshap.host(lambda x: np.asarray(predict(x))), rows, background)
    np.testing.assert_allclose(result.values, plain.values, atol=1e-5)
    np.testing.assert_allclose(result.values.sum(1) + result.base_values, predict(rows), atol=1e-5)
    return result


def test_plain_functions_with_parameters_are_not_compiled_again_for_others(compilations):
    def apply(parameters, x):
        return jnp.tanh(x @ parameters["w"]) @ parameters["v"]

    def model(seed):
        keys = jax.random.split(jax.random.key(seed))
        parameters = {
            "w": jax.random.normal(keys[0], (4, 6)),
            "v": jax.random.normal(keys[1], (6, 2)),
        }
        return jax.tree_util.Partial(apply, parameters)

    first, second = model(0), model(1)
    explained(first, first)
    with compilations() as names:
        jaxshap.explain(second, ROWS, BACKGROUND)
    assert names == []


class TestFlax:
    def test_nnx_modules_are_models(self):
        nnx = pytest.importorskip("flax.nnx")

        class Network(nnx.Module):
            def __init__(self, rngs):
                self.first, self.second = nnx.Linear(4, 8, rngs=rngs), nnx.Linear(8, 2, rngs=rngs)

            def __call__(self, x):
                return self.second(nnx.tanh(self.first(x)))

        network = Network(nnx.Rngs(0))
        explained(network, network)

    def test_linen_modules_are_models_with_their_parameters(self):
        linen = pytest.importorskip("flax.linen")

        class Network(linen.Module):
            @linen.compact
            def __call__(self, x):
                return linen.Dense(1)(linen.tanh(linen.Dense(8)(x)))[:, 0]

        network = Network()
        parameters = network.init(jax.random.key(0), ROWS)
        model = jax.tree_util.Partial(network.apply, parameters)
        explained(model, model)


class TestEquinox:
    def test_modules_of_one_row_are_models_under_vmap(self):
        equinox = pytest.importorskip("equinox")
        network = equinox.nn.MLP(4, 2, 8, 1, key=jax.random.key(0))
        explained(jax.vmap(network), jax.vmap(network))

    def test_modules_of_a_batch_are_data_though_some_leaves_are_functions(self, compilations):
        equinox = pytest.importorskip("equinox")

        class Batched(equinox.Module):
            inner: equinox.nn.MLP

            def __call__(self, x):
                return jax.vmap(self.inner)(x)

        first, second = (
            Batched(equinox.nn.MLP(4, 2, 8, 1, key=jax.random.key(seed))) for seed in (0, 1)
        )
        explained(first, first)
        with compilations() as names:
            jaxshap.explain(second, ROWS, BACKGROUND)
        assert names == []


class TestScikitLearn:
    def test_a_pipeline_with_encoded_columns_is_explained_by_its_own_columns(self):
        pd = pytest.importorskip("pandas")
        compose = pytest.importorskip("sklearn.compose")
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        frame = pd.DataFrame(
            {
                "age": RNG.normal(size=60),
                "town": RNG.integers(0, 3, 60),
                "job": RNG.integers(0, 2, 60),
            }
        )
        encoder = compose.ColumnTransformer(
            [("codes", OneHotEncoder(), ["town", "job"]), ("numbers", StandardScaler(), ["age"])]
        )
        pipeline = make_pipeline(encoder, LogisticRegression()).fit(
            frame, frame.age + frame.town > 1
        )
        whole = jaxshap.explain(pipeline, frame[:4], frame[:20])
        assert whole.feature_names == ("age", "town", "job")
        assert whole.output_names == ("False", "True")
        table = encoder.transform(frame)
        groups = jaxshap.column_groups(encoder)
        assert groups == {"town": [0, 1, 2], "job": [3, 4], "age": [5]}
        inner = jaxshap.explain(pipeline[-1], table[:4], table[:20], groups=groups)
        order = [inner.feature_names.index(name) for name in whole.feature_names]
        np.testing.assert_allclose(inner.values[:, order], whole.values, atol=1e-6)

    def test_groups_follow_dropped_and_rare_categories_pipelines_and_what_is_mixed(self):
        pd = pytest.importorskip("pandas")
        compose = pytest.importorskip("sklearn.compose")
        from sklearn.decomposition import PCA
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder

        frame = pd.DataFrame({name: RNG.integers(0, 5, 80) for name in "abcdefg"})
        frame["b"] = np.where(np.arange(80) < 2, np.arange(80), 2 + np.arange(80) % 2)
        encoder = compose.ColumnTransformer(
            [
                ("dropped", OneHotEncoder(drop="first"), ["a"]),
                ("rare", OneHotEncoder(min_frequency=5), ["b"]),
                ("filled", make_pipeline(SimpleImputer(), OneHotEncoder()), ["c"]),
                ("mixed", PCA(2), ["d", "e", "f"]),
            ],
            remainder="passthrough",
        ).fit(frame)
        groups = jaxshap.column_groups(encoder)
        assert {name: len(columns) for name, columns in groups.items()} == {
            "a": 4,
            "b": 3,
            "c": 5,
            "d+e+f": 2,
            "g": 1,
        }
        assert sorted(np.concatenate(list(groups.values()))) == list(range(15))

    def test_groups_of_what_is_not_fitted_are_refused(self):
        with pytest.raises(TypeError, match="fitted ColumnTransformer"):
            jaxshap.column_groups(object())


def test_torch_modules_are_models():
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2))
    explained(network, lambda x: network(torch.as_tensor(x)).detach().numpy())


def test_onnx_sessions_run_on_the_host():
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    weights = RNG.normal(size=(4, 2))
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node("Tanh", ["z"], ["y"])],
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 2])],
        [helper.make_tensor("w", TensorProto.FLOAT, [4, 2], weights.ravel().tolist())],
    )
    made = onnx.helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = runtime.InferenceSession(made.SerializeToString())
    model = jaxshap.host(lambda x: session.run(None, {"x": x})[0])
    explained(model, lambda x: np.tanh(x @ weights))


class TestSeparateDraws:
    """14 players and a budget far below 2**14, so that draws differ."""

    N = 14

    def model(self, x):
        return (
            jnp.tanh(x[:, : self.N] @ jnp.asarray(np.linspace(-1, 1, self.N), x.dtype))
            + x[:, 0] * x[:, 1] * x[:, 2]
        )

    @functools.cached_property
    def rows(self):
        return np.random.default_rng(1).normal(size=(2, self.N)).astype(np.float32)

    def test_each_row_gets_what_its_own_key_gives(self):
        result = jaxshap.explain(
            self.model,
            self.rows,
            self.rows[:1] * 0,
            estimator=jaxshap.Permutation(),
            budget=120,
            separate_draws=True,
        )
        for number, row in enumerate(self.rows):
            game = jaxshap.marginal(self.model, row[None], self.rows[:1] * 0)
            key = jax.random.fold_in(jax.random.key(0), number)
            alone = jaxshap.estimate(key, game, jaxshap.Permutation(), 120)
            np.testing.assert_allclose(result.values[number], alone.values[:, 0], atol=1e-5)
            np.testing.assert_allclose(result.std_error[number], alone.std_error[:, 0], atol=1e-4)
        assert not result.shared_draws
        assert result.value_function == "marginal"
        np.testing.assert_allclose(
            result.values.sum(1) + result.base_values, self.model(jnp.asarray(self.rows)), atol=1e-5
        )

    def test_equal_rows_share_draws_or_not(self):
        twice = np.repeat(self.rows[:1], 2, axis=0)
        options = {"estimator": jaxshap.Permutation(), "budget": 120}
        shared = jaxshap.explain(self.model, twice, twice[:1] * 0, **options)
        np.testing.assert_allclose(shared.values[0], shared.values[1], atol=1e-6)
        apart = jaxshap.explain(self.model, twice, twice[:1] * 0, separate_draws=True, **options)
        assert np.abs(apart.values[0] - apart.values[1]).max() > 1e-3

    def test_host_models_draw_separately_too(self):
        traced, on_host = (
            jaxshap.explain(
                model,
                self.rows,
                self.rows[:1] * 0,
                groups=[range(7), range(7, 14)],
                separate_draws=True,
            )
            for model in (
                self.model,
                jaxshap.host(lambda x: np.asarray(self.model(jnp.asarray(x)))),
            )
        )
        np.testing.assert_allclose(traced.values, on_host.values, atol=1e-5)

    def test_values_that_are_not_finite_are_not_returned(self):
        def model(x):
            return jnp.where((x[:, 0] == 0) & (x[:, 1] != 0), jnp.nan, x.sum(1))

        options = {"estimator": jaxshap.Permutation(), "budget": 120, "separate_draws": True}
        with pytest.raises(ValueError, match="NaN or infinity"):
            jaxshap.explain(model, self.rows, self.rows[:1] * 0, **options)

    def test_what_it_does_not_go_with_is_refused(self):
        with pytest.raises(ValueError, match="does not go with"):
            jaxshap.explain(self.model, self.rows, self.rows, separate_draws=True, tol=0.1)
