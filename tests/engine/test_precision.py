"""The library's own products are in full precision on every device; the model's are the user's."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from device_programs import PROGRAMS, VALUES, program, worth_of
from jax import lax
from jax._src.interpreters import mlir
from jax._src.lax.convolution import conv_general_dilated_p
from jax._src.lax.lax import dot_general_p

import jaxshap
from jaxshap.values import Copula, Gaussian, Nearby

PRODUCTS = dot_general_p, conv_general_dilated_p
BITS = {"bfloat16": 7, "TF32": 10}  # of the mantissa that an operand keeps
HIGHEST = (lax.Precision.HIGHEST,) * 2
every_program = pytest.mark.parametrize("name", PROGRAMS)


def products(jaxpr):
    """The precision of every float32 product, those of inner programs too."""
    for equation in jaxpr.eqns:
        single = all(variable.aval.dtype == np.float32 for variable in equation.invars[:2])
        if equation.primitive in PRODUCTS and single:
            yield equation.params["precision"]
        for leaf in jax.tree.leaves(equation.params):
            inner = getattr(leaf, "jaxpr", leaf)
            if hasattr(inner, "eqns"):
                yield from products(inner)


def total(function):
    """The sum of all outputs, for a gradient by all arguments."""

    def summed(*args):
        leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves(function(*args))]
        return sum(leaf.sum() for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.floating))

    return summed


def is_differentiable(name):
    return not name.startswith("plan") and "lasso" not in name  # its path is a while loop


@every_program
def test_no_product_of_the_library_is_left_at_the_precision_of_the_device(name):
    function, arguments, traced = program(name)
    assert all(kept == HIGHEST for kept in products(traced.jaxpr.jaxpr))
    if is_differentiable(name):
        by_all = tuple(range(len(arguments)))
        gradient = jax.grad(total(function), by_all, allow_int=True)
        assert all(kept == HIGHEST for kept in products(jax.make_jaxpr(gradient)(*arguments).jaxpr))


def test_the_walk_sees_the_products_that_there_are():
    for name in ("solve of OddGP(fit_each=None)", "marginal", "ridge", "posterior"):
        assert len(list(products(program(name)[2].jaxpr.jaxpr))) > 1
    step = jax.make_jaxpr(lambda x: lax.scan(lambda c, _: (c @ c, None), x, length=2)[0])
    assert list(products(step(jnp.ones((2, 2))).jaxpr)) == [None]


@pytest.mark.parametrize("setting", [None, "bfloat16", "highest"])
@pytest.mark.parametrize("name", VALUES)
def test_the_model_keeps_the_setting_of_the_user_and_so_do_its_gradients(name, setting):
    def network(rows):
        return jnp.tanh(rows[:, None, :] * jnp.ones((7, 1))).sum(2) @ jnp.ones((7, 11))

    options = {"Gaussian": Gaussian(num_samples=4), "Copula": Copula(num_samples=4)}
    options["Nearby"] = Nearby()
    kind, _, how = name.partition(", ")
    how = {"how": options[how]} if how else {}
    function, arguments = worth_of(getattr(jaxshap, kind), network, **how)
    wanted = {None: None, "bfloat16": (lax.Precision.DEFAULT,) * 2, "highest": HIGHEST}[setting]
    with jax.default_matmul_precision(setting):
        for traced in (function, jax.grad(total(function), (0, 1))):
            found = list(products(jax.make_jaxpr(traced)(*arguments).jaxpr))
            assert wanted in found
            assert set(found) == {wanted, HIGHEST}


def test_a_new_estimator_gets_full_precision_without_thinking_of_it():
    class Own(jaxshap.Leverage):
        def solve(self, plan, worths, empty, full):
            return jaxshap.Estimate(worths.T @ worths, worths.T @ worths)

    square = jnp.ones((3, 3))
    jaxpr = jax.make_jaxpr(lambda worths: Own().solve(None, worths, 0.0, 1.0))(square)
    assert list(products(jaxpr.jaxpr)) == [HIGHEST, HIGHEST]


@contextlib.contextmanager
def low_precision(bits):
    """Operands of products that do not ask for the highest precision are rounded when lowered, as
    matrix units of accelerators do; sums stay in float32.
    """
    places = (mlir._lowerings, None), (mlir._platform_specific_lowerings["cpu"], "cpu")
    before = [(rules, dict(rules)) for rules, _ in places]
    for rules, platform in places:
        for primitive in PRODUCTS:
            if primitive in rules:
                own = getattr(rules[primitive], "rule", rules[primitive])
                lowered = _rounding(primitive, own, bits)
                mlir.register_lowering(primitive, lowered, platform=platform)
    jax.clear_caches()
    try:
        yield
    finally:
        for rules, kept in before:
            rules.clear()
            rules.update(kept)
        jax.clear_caches()


def _rounding(primitive, own, bits):
    def lowered(context, x, y, *rest, **params):
        single = all(operand.dtype == jnp.float32 for operand in context.avals_in[:2])
        if params["precision"] == HIGHEST or not single:
            return own(context, x, y, *rest, **params)

        def rounded(x, y):
            narrow = (lax.reduce_precision(operand, 8, bits) for operand in (x, y))
            return primitive.bind(*narrow, **(params | {"precision": HIGHEST}))

        return mlir.lower_fun(rounded, multiple_results=False)(context, x, y)

    return lowered


def test_the_emulation_rounds_products_of_default_precision_alone():
    third = jnp.full((1, 1), 1 / 3, jnp.float32)
    with low_precision(7):
        low = float(jax.jit(jnp.matmul)(third, third)[0, 0])
        high = float(jax.jit(lambda x: jnp.matmul(x, x, precision="highest"))(third)[0, 0])
    assert 1e-4 < abs(low - 1 / 9) < 1e-2
    assert abs(high - 1 / 9) < 1e-7
    assert abs(float(jax.jit(jnp.matmul)(third, third)[0, 0]) - 1 / 9) < 1e-7


def test_nothing_moves_on_low_precision_matrix_units():
    """A program that is lowered to the same text computes the same numbers; others are run."""
    traced = {name: program(name)[2] for name in PROGRAMS}
    traced = {name: one for name, one in traced.items() if list(products(one.jaxpr.jaxpr))}
    plain = {name: one.lower() for name, one in traced.items()}
    moved = set(traced)
    for bits in BITS.values():
        with low_precision(bits):
            low = {name: traced[name].lower() for name in moved}
        moved = {name for name in moved if low[name].as_text() != plain[name].as_text()}
        for name in moved:
            both = (one.compile()(*program(name)[1]) for one in (plain[name], low[name]))
            _compare(name, *zip(*map(jax.tree.leaves, both), strict=True))


def _compare(name, values, *errors):
    values, moved = (np.asarray(part, np.float64) for part in values)
    assert np.abs(moved - values).max() <= 1e-5 * np.abs(values).max(), name
    for first, second in errors:
        np.testing.assert_allclose(second, first, rtol=0.01, err_msg=name)


def test_an_estimate_outside_jit_does_not_move_either():
    game = jaxshap.table(np.random.default_rng(0).normal(size=(64, 2)).astype(np.float32))
    plain = jaxshap.estimate(0, game, jaxshap.Leverage(), 40)
    with low_precision(7):
        other = jaxshap.estimate(0, game, jaxshap.Leverage(), 40)
    np.testing.assert_array_equal(other.values, plain.values)
    np.testing.assert_array_equal(other.std_error, plain.std_error)
