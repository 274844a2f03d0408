"""Absent parts of images, made of the images themselves: what the model sees, and its names."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap
from jaxshap.images import Blurred, Inpainted, MeanColour, Noise

KINDS = [Blurred(1.5), MeanColour(), MeanColour(per_player=True), Noise(3), Inpainted()]
IMAGES = np.random.default_rng(0).random((2, 5, 6, 3)).astype(np.float32)
LABELS = np.array([[0, 0, 0, 1, 1, 1]] * 2 + [[2, 2, 0, 1, 3, 3]] * 2 + [[2, 2, 2, 3, 3, -1]])
PLAYERS = jaxshap.segments(LABELS)
SOME = np.array([True, False, False, True])
PRESENT = np.append(SOME, True)[LABELS]  # −1 always stays


def same_pixels(x):
    return x.reshape(len(x), -1)


def seen(kind, images=IMAGES, players=PLAYERS, coalition=SOME, host=False):
    """What a model that returns its input is shown: the mean over draws of filled images."""
    model = jaxshap.host(same_pixels) if host else same_pixels
    game = kind(model, images, players=players)
    worths = jaxshap.evaluate(game, np.asarray(coalition)[None])
    return np.asarray(worths)[0].reshape(images.shape)


def slowly_blurred(images, width):
    """Every pixel as a weighted mean over all of them, written out."""
    down, across = np.indices(images.shape[1:3])
    blurred = np.empty(images.shape)
    for i, j in np.ndindex(images.shape[1:3]):
        weights = np.exp(-((down - i) ** 2 + (across - j) ** 2) / (2 * width**2))
        blurred[:, i, j] = np.einsum("ij,kijc->kc", weights / weights.sum(), images)
    return blurred


@pytest.mark.parametrize("host", [False, True], ids=["jax", "host"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_present_parts_and_pixels_of_nobody_are_those_of_the_image(kind, host):
    filled = seen(kind, host=host)
    np.testing.assert_allclose(filled[:, PRESENT], IMAGES[:, PRESENT], rtol=1e-6)
    assert (filled[:, ~PRESENT] != IMAGES[:, ~PRESENT]).mean() > 0.9


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_models_in_jax_and_on_the_host_see_the_same_images(kind):
    np.testing.assert_allclose(seen(kind), seen(kind, host=True), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_float32_images_are_filled_in_as_well_as_float64_ones(kind):
    wide = seen(kind, IMAGES.astype(np.float64), host=True)
    np.testing.assert_allclose(seen(kind), wide, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_an_image_of_one_colour_has_nothing_to_take_away(kind):
    plain = np.broadcast_to(np.float32([0.25, 0.5, 0.75]), IMAGES.shape)
    for coalition in (SOME, ~SOME, SOME & False):
        np.testing.assert_allclose(seen(kind, plain, coalition=coalition), plain, atol=1e-6)


@pytest.mark.parametrize("host", [False, True], ids=["jax", "host"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_channels_in_front_are_filled_in_as_channels_behind_are(kind, host):
    front = np.moveaxis(IMAGES, -1, 1)
    players = jaxshap.segments(np.broadcast_to(LABELS, front.shape[1:]))
    filled = np.moveaxis(seen(kind, front, players, host=host), 1, -1)
    np.testing.assert_allclose(filled, seen(kind), atol=1e-6)


def test_a_map_of_owners_for_each_channel_is_one_of_pixels():
    every = jaxshap.segments(np.repeat(LABELS[..., None], 3, axis=2))
    for kind in KINDS:
        filled = seen(kind, players=every, host=True)
        np.testing.assert_allclose(filled, seen(kind, host=True), atol=1e-6)


def test_stripes_of_an_image_are_no_channels_and_a_short_axis_of_windows_is_one():
    stripes, bands = jaxshap.patches((8, 6), (2, 6)), jaxshap.patches((2, 12), (2, 3))
    for players, shape, axes in ((stripes, (8, 6), (1, 2)), (bands, (2, 12), (2,))):
        one = np.random.default_rng(3).random((1, *shape)).astype(np.float32)
        with warnings.catch_warnings(action="ignore", category=jaxshap.errors.LayoutWarning):
            filled = seen(MeanColour(), one, players, np.zeros(len(players), bool), host=True)
        mean = np.broadcast_to(one.mean(axes, keepdims=True), one.shape)
        np.testing.assert_allclose(filled, mean, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_a_series_of_many_channels_in_front_is_not_taken_as_an_image_in_silence(kind):
    series = np.random.default_rng(4).random((1, 5, 12)).astype(np.float32)
    times = np.repeat(np.arange(4), 3)
    with pytest.warns(jaxshap.errors.LayoutWarning, match=r"series of 5 channels put these last"):
        kind(same_pixels, series, players=jaxshap.segments(np.broadcast_to(times, (5, 12))))
    with warnings.catch_warnings(action="error"):
        kind(same_pixels, series[:, :4], players=jaxshap.segments(np.broadcast_to(times, (4, 12))))
        kind(same_pixels, series.transpose(0, 2, 1), players=jaxshap.patches((12,), 3))


def test_a_map_of_pixels_for_images_with_channels_in_front_is_refused_with_the_remedy():
    with pytest.raises(jaxshap.InputError, match=r"with channels in front.*\(3, 5, 6\)"):
        Blurred()(same_pixels, np.moveaxis(IMAGES, -1, 1), players=PLAYERS)


def test_blurred_parts_are_weighted_means_of_all_pixels():
    expected = slowly_blurred(IMAGES, 1.5)
    np.testing.assert_allclose(seen(Blurred(1.5))[:, ~PRESENT], expected[:, ~PRESENT], atol=1e-6)


def test_the_default_blur_is_a_tenth_of_the_longest_side():
    players = jaxshap.patches((5, 40), 5)
    images = np.random.default_rng(1).random((1, 5, 40)).astype(np.float32)
    nobody = np.zeros(8, bool)
    np.testing.assert_array_equal(
        seen(Blurred(), images, players, nobody), seen(Blurred(4.0), images, players, nobody)
    )


def test_mean_colours_are_those_of_the_image_or_of_each_part():
    of_image, of_parts = seen(MeanColour()), seen(MeanColour(per_player=True))
    for label in (1, 2):
        part = label == LABELS
        own = IMAGES[:, part].mean(1, keepdims=True)
        np.testing.assert_allclose(of_parts[:, part], np.repeat(own, part.sum(), 1), atol=1e-6)
        whole = IMAGES.mean((1, 2))[:, None]
        np.testing.assert_allclose(of_image[:, part], np.repeat(whole, part.sum(), 1), atol=1e-6)


def test_noise_is_the_image_in_another_order_and_worths_are_means_over_draws():
    nobody, everything = np.zeros(4, bool), jaxshap.segments(np.where(LABELS < 0, 3, LABELS))
    one = seen(Noise(1, key=5), IMAGES, everything, nobody, host=True)
    for filled, image in zip(one, IMAGES, strict=True):
        own, given = (pixels.reshape(-1, 3) for pixels in (filled, image))
        assert set(map(tuple, own)) == set(map(tuple, given))
        assert (own != given).mean() > 0.5
    three = Noise(3)(same_pixels, IMAGES, players=PLAYERS)
    parts = [three.in_stratum(jnp.asarray(number), jnp.asarray(SOME)) for number in range(3)]
    np.testing.assert_allclose(sum(parts).reshape(IMAGES.shape), seen(Noise(3)), atol=1e-6)
    assert np.abs(parts[0] - parts[1]).max() > 0.1
    assert three.num_strata == 3


def test_inpainting_goes_on_from_neighbours():
    ramp = np.linspace(0, 1, 16, dtype=np.float32)[None, :, None] * np.ones((1, 1, 16), np.float32)
    players = jaxshap.patches((16, 16), 4)
    hole = np.ones(16, bool)
    hole[[5, 6]] = False
    filled, absent = seen(Inpainted(), ramp, players, hole, True), ~hole[players.owner]
    errors = np.abs(filled - ramp)[0, absent]
    assert errors.max() < 0.5 * np.abs(ramp.mean() - ramp)[0, absent].max()
    assert errors.mean() < 0.06
    around = seen(
        Inpainted(), 1 - ramp, players, hole, True
    )  # what fills in follows from the image
    np.testing.assert_allclose(around, 1 - filled, atol=1e-6)


def test_inpainted_pixels_are_within_the_range_of_those_present():
    for numbers in ((0, 0, 0, 1), (1, 0, 0, 0), (0, 1, 1, 0)):
        coalition = np.array(numbers, bool)
        there = np.append(coalition, True)[LABELS]
        filled = seen(Inpainted(), coalition=coalition, host=True)
        for image, one in zip(IMAGES, filled, strict=True):
            assert (one >= image[there].min(0) - 1e-6).all()
            assert (one <= image[there].max(0) + 1e-6).all()


def test_where_nobody_is_present_an_inpainted_image_has_its_mean_colour():
    players = jaxshap.patches((5, 6), 3)
    filled = seen(Inpainted(), IMAGES, players, np.zeros(len(players), bool))
    mean = IMAGES.mean((1, 2), keepdims=True)
    np.testing.assert_allclose(filled, np.broadcast_to(mean, filled.shape), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_whole_numbers_stay_whole_numbers(kind):
    bytes_ = (255 * IMAGES).astype(np.uint8)
    shown = []

    def model(images):
        shown.append(images)
        return images.reshape(len(images), -1).astype(float)

    game = kind(jaxshap.host(model), bytes_, players=PLAYERS)
    jaxshap.evaluate(game, SOME[None])
    assert {images.dtype for images in shown} == {np.dtype(np.uint8)}


NAMES = [
    "blurred (1.5 pixels)",
    "mean colour",
    "mean colour of each player",
    "noise (3 draws)",
    "inpainted",
]


@pytest.mark.parametrize(("kind", "name"), list(zip(KINDS, NAMES, strict=True)), ids=NAMES)
def test_results_name_what_stands_in_the_place_of_absent_parts(kind, name):
    weights = jnp.arange(90.0).reshape(90, 1) / 90

    def model(images):
        return jnp.tanh(images.reshape(len(images), -1) @ weights)

    ex = jaxshap.explain(model, IMAGES, groups=PLAYERS, value=kind, progress=False)
    assert ex.value_function == name
    assert name in repr(ex)
    assert ex.absent
    total = np.asarray(model(jnp.asarray(IMAGES)))
    np.testing.assert_allclose(ex.base_values + ex.values.sum(1), total, atol=1e-5)


def test_series_and_inputs_of_several_arrays_are_filled_in_where_players_divide_them():
    inputs = {"series": np.arange(8, dtype=np.float32)[None], "age": np.float32([[3.0]])}
    players = jaxshap.together({"series": jaxshap.patches((8,), 4), "age": None})
    game = MeanColour()(lambda x: x["series"] + x["age"], inputs, players=players)
    worth = jaxshap.evaluate(game, np.array([[True, False]]))
    assert worth[0, 0].tolist() == [3.0, 4.0, 5.0, 6.0, 6.5, 6.5, 6.5, 6.5]


def test_the_largest_outputs_and_draws_of_its_own_for_each_row_go_with_images():
    weights = np.random.default_rng(2).normal(size=(90, 4)).astype(np.float32)

    def model(images):
        return jnp.tanh(images.reshape(len(images), -1) @ weights / 5)

    how = {"groups": PLAYERS, "value": Blurred(1.5), "progress": False}
    whole = jaxshap.explain(model, IMAGES, **how)
    top = jaxshap.explain(model, IMAGES, outputs=jaxshap.Top(1), **how)
    best = np.asarray(model(jnp.asarray(IMAGES))).argmax(1)
    np.testing.assert_allclose(top.values[..., 0], whole.values[np.arange(2), :, best], atol=1e-6)
    own = jaxshap.explain(model, IMAGES, separate_draws=True, **how)
    np.testing.assert_allclose(own.values, whole.values, atol=1e-5)


def test_gradients_go_through_to_the_images():
    @jax.jit
    def worth(images):
        game = Inpainted()(lambda x: (x**2).sum((1, 2, 3)), images, players=PLAYERS)
        return game(jnp.asarray(SOME))[0]

    slope = jax.jit(jax.grad(worth))(IMAGES)
    step = np.float32(1e-2) * (np.arange(2) == 0)[:, None, None, None] * IMAGES[::-1]
    change = worth(IMAGES + step) - worth(IMAGES - step)
    np.testing.assert_allclose((slope * step).sum() * 2, change, rtol=1e-3)


def test_what_does_not_fit_is_refused_by_name():
    with pytest.raises(jaxshap.InputError, match="omit the background"):
        jaxshap.explain(same_pixels, IMAGES, IMAGES, groups=PLAYERS, value=Blurred())
    with pytest.raises(jaxshap.InputError, match=r"pass groups=jaxshap\.patches"):
        jaxshap.explain(lambda x: x.sum(1), np.ones((1, 3)), value=Inpainted())
    with pytest.raises(jaxshap.InputError, match="omit the background"):
        Noise()(same_pixels, IMAGES, IMAGES, players=PLAYERS)
    with pytest.raises(jaxshap.InputError, match="inputs of shape"):
        MeanColour()(same_pixels, IMAGES[:, :4], players=PLAYERS)
    whole = jaxshap.leaves({"image": IMAGES})
    with pytest.raises(jaxshap.InputError, match="own whole ones"):
        MeanColour()(lambda x: x["image"].sum((1, 2, 3)), {"image": IMAGES}, players=whole)
    with pytest.raises(jaxshap.InputError, match="positive number of pixels"):
        Blurred(0)
    with pytest.raises(jaxshap.InputError, match="1 or more"):
        Noise(0)
