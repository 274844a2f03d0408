"""Modules left in training mode are refused by name, wherever they are called, and not changed."""

import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap

X = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)
BACKGROUND = np.random.default_rng(1).normal(size=(9, 5)).astype(np.float32)


def explained(model, rows=X, background=BACKGROUND, **options):
    settings = {"estimator": jaxshap.Kernel(), "budget": 20} | options
    return jaxshap.explain(model, rows, background, **settings)


def refused(model, match, **options):
    with pytest.raises(jaxshap.UnsupportedModelError, match=match):
        explained(model, **options)


@pytest.mark.parametrize("kind", ["Dropout", "BatchNorm"])
def test_flax_nnx(kind):
    nnx = pytest.importorskip("flax.nnx")

    class Network(nnx.Module):
        def __init__(self, rngs):
            self.first, self.last = nnx.Linear(5, 8, rngs=rngs), nnx.Linear(8, 1, rngs=rngs)
            options = {"Dropout": {"rate": 0.5}, "BatchNorm": {"num_features": 8}}[kind]
            self.middle = getattr(nnx, kind)(**options, rngs=rngs)

        def __call__(self, rows):
            return self.last(self.middle(jnp.tanh(self.first(rows))))[:, 0]

    network = Network(nnx.Rngs(0))
    before = jax.tree.map(np.asarray, nnx.to_pure_dict(nnx.state(network, nnx.Not(nnx.RngKey))))
    for model in (network, lambda rows: network(rows), network.__call__):
        refused(model, rf"{kind} of flax.*model\.eval\(\)")
    after = jax.tree.map(np.asarray, nnx.to_pure_dict(nnx.state(network, nnx.Not(nnx.RngKey))))
    jax.tree.map(np.testing.assert_array_equal, before, after)
    network.eval()
    explanation = explained(network)
    total = explanation.values.sum(1) + explanation.base_values
    np.testing.assert_allclose(total, network(X), atol=1e-5)


def test_flax_linen():
    linen = pytest.importorskip("flax.linen")

    class Network(linen.Module):
        @linen.compact
        def __call__(self, rows, train):
            rows = linen.BatchNorm(use_running_average=not train)(linen.Dense(8)(rows))
            return linen.Dense(1)(linen.Dropout(0.5, deterministic=not train)(rows))[:, 0]

    network, keys = Network(), {"params": jax.random.key(0), "dropout": jax.random.key(1)}
    variables = network.init(keys, X, train=False)

    def apply(rows, train):
        options = {"rngs": keys, "mutable": ["batch_stats"]} if train else {}
        outputs = network.apply(variables, rows, train=train, **options)
        return outputs[0] if train else outputs

    refused(lambda rows: apply(rows, True), "train=False for Flax linen")
    explained(lambda rows: apply(rows, False))


def test_equinox_with_keys_for_each_row_or_one_for_all():
    eqx = pytest.importorskip("equinox")

    class Network(eqx.Module):
        linear: eqx.nn.Linear
        dropout: eqx.nn.Dropout

        def __call__(self, rows):
            def of_row(row, key):
                return self.linear(self.dropout(jnp.tanh(row), key=key))[0]

            keys = jax.random.split(jax.random.key(0), len(rows))
            return jax.vmap(of_row)(rows, keys) + jax.vmap(of_row, (0, None))(rows, keys[0])

    network = Network(eqx.nn.Linear(5, 1, key=jax.random.key(0)), eqx.nn.Dropout(0.5))
    for model in (network, lambda rows: network(rows), jax.jit(lambda rows: network(rows))):
        refused(model, r"Dropout of equinox.*eqx\.nn\.inference_mode")

    def switched(rows):  # closes over a module in training mode, and does not use it so
        return eqx.nn.inference_mode(network)(rows)

    np.testing.assert_array_equal(
        explained(switched).values, explained(eqx.nn.inference_mode(network)).values
    )


def test_haiku_like_pairs_of_parameters_and_a_function():
    def apply(params, key, rows, is_training):
        if is_training:
            rows = jnp.where(jax.random.bernoulli(key, 0.5, rows.shape), 2 * rows, 0)
        return jnp.tanh(rows @ params)

    params = jnp.linspace(-1, 1, 5, dtype=jnp.float32)
    refused(
        lambda rows: apply(params, jax.random.key(0), rows, True), "train=False for Flax.*Haiku"
    )
    explained(lambda rows: apply(params, jax.random.key(0), rows, False))


class Module:
    """What torch's base class has, as far as it is asked for."""

    def __init__(self, *children):
        self.training, self.children = True, children

    def modules(self):
        return [self, *(module for child in self.children for module in child.modules())]

    def parameters(self):
        return iter(())

    def eval(self):
        for module in self.modules():
            module.training = False
        return self

    def __call__(self, batch):
        self.asked = True
        return types.SimpleNamespace(cpu=lambda: types.SimpleNamespace(numpy=lambda: batch.sum(1)))


Module.__module__ = "torch.nn.modules.module"
DROPOUT = type("Dropout", (Module,), {"p": 0.5, "__module__": "torch.nn.modules.dropout"})
BATCH_NORM = type("BatchNorm1d", (Module,), {"__module__": "torch.nn.modules.batchnorm"})


@pytest.fixture
def torch(monkeypatch):
    import contextlib

    fake = types.SimpleNamespace(as_tensor=np.asarray, no_grad=contextlib.nullcontext)
    monkeypatch.setitem(sys.modules, "torch", fake)


@pytest.mark.parametrize("kind", [DROPOUT, BATCH_NORM])
@pytest.mark.usefixtures("torch")
def test_torch(kind):
    layer = kind()
    layer.p = 0.5
    network = Module(layer)

    def called(batch):
        return network(np.array(batch)).cpu().numpy()

    for model in (network, called):
        refused(model, rf"{kind.__name__} of torch.*model\.eval\(\)")
    assert network.training
    assert not hasattr(network, "asked")
    explained(network.eval())
    explained(called)


@pytest.mark.usefixtures("torch")
def test_torch_modules_that_do_not_know_training_may_stay_in_it():
    explained(Module())


@pytest.mark.parametrize("options", [{}, {"model_rows": 200, "estimator": None, "budget": None}])
def test_host_models_that_answer_differently_when_asked_twice(options):
    noise = np.random.default_rng(0)
    model = jaxshap.host(lambda rows: rows.sum(1) + noise.normal(size=len(rows)))
    refused(model, "answers differently", **options)


@pytest.mark.parametrize("options", [{}, {"groups": [[0, 1]]}, {"separate_draws": True}])
def test_a_host_model_that_drifts_by_little_a_call_is_found_in_the_end(options):
    calls = []

    def drifting(rows):
        calls.append(len(rows))
        return rows.sum(1) + 5e-4 * len(calls)

    with pytest.raises(jaxshap.EvaluationError, match="changed while it was explained") as failed:
        explained(jaxshap.host(drifting), batch_size=1, **options)
    assert np.isfinite(failed.value.explanation.values).all()


def test_the_look_at_the_end_costs_nothing_and_rounding_passes():
    calls, random = [], np.random.default_rng(0)

    def rounded(rows):  # sums of float32 in any order, far from 0
        calls.append(len(rows))
        return (rows.sum(1) + 100) * (1 + 1e-6 * random.normal(size=len(rows)))

    explained(jaxshap.host(rounded), batch_size=1)
    assert calls[:3] == [len(X), len(BACKGROUND), 4]  # v(N), v(∅), two rows and two references
    assert calls[-1] == 4
    assert 4 not in calls[3:-1]


def test_one_row_and_one_reference_suffice_to_see_dropout():
    def model(rows):
        return jnp.where(jax.random.bernoulli(jax.random.key(0), 0.5, rows.shape), rows, 0).sum(1)

    refused(model, "answers differently", rows=X[:1], background=BACKGROUND[:1])


def test_conditional_games_are_looked_at_too():
    def model(rows):
        return jnp.tanh((rows - rows.mean(0)) / (1 + rows.std(0))).sum(1)

    refused(model, "answers differently", value=jaxshap.conditional)


def test_a_jax_model_that_runs_on_the_host_says_so():
    def model(rows):
        return rows.sum(1) if rows[0, 0] > -100 else rows.sum(1) * 2

    with pytest.warns(jaxshap.errors.HostFallbackWarning, match=r"jaxshap\.host\(model\)"):
        explained(lambda rows: model(jnp.asarray(rows)))
    explained(jaxshap.host(model))
