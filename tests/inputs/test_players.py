"""Players of inputs that are not tables: images, sequences, dictionaries; against the same game
written out.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import membership

import jaxshap


def image_model(images):
    """Two outputs, with interactions between distant pixels."""
    flat = images.reshape(len(images), -1)
    weights = jnp.asarray(np.random.default_rng(0).normal(size=(flat.shape[1], 2)), flat.dtype)
    return jnp.tanh(flat @ weights) + flat[:, :1] * flat[:, -1:]


def worths(game):
    return np.asarray(jaxshap.evaluate(game, membership(game.num_players).astype(bool)))


def test_patches_of_an_image_are_masked_in_all_channels():
    rng = np.random.default_rng(1)
    images, background = rng.normal(size=(2, 4, 6, 3)), rng.normal(size=(5, 4, 6, 3))
    players = jaxshap.patches((4, 6), (2, 3))
    assert players.names == ("0,0", "0,1", "1,0", "1,1")
    with jax.enable_x64(True):
        game = jaxshap.marginal(image_model, images, background, players=players)
        found = worths(game)
    for coalition, worth in zip(membership(4).astype(bool), found, strict=True):
        keep = np.kron(coalition.reshape(2, 2), np.ones((2, 3)))[..., None].astype(bool)
        with jax.enable_x64(True):
            expected = [image_model(jnp.where(keep, image, background)).mean(0) for image in images]
        np.testing.assert_allclose(worth, expected, atol=1e-12)


def test_the_last_patch_may_be_smaller_and_windows_are_patches_of_a_line():
    np.testing.assert_array_equal(jaxshap.patches((5,), 2).owner, [0, 0, 1, 1, 2])
    assert len(jaxshap.patches((5, 5), 2)) == 9
    assert len(jaxshap.patches((28, 28), 4)) == 49


def test_segments_are_the_labels_that_occur_and_keep_what_has_none():
    players = jaxshap.segments(np.array([[7, 7, -1], [3, 3, 9]]))
    assert players.names == ("3", "7", "9")
    np.testing.assert_array_equal(players.owner, [[1, 1, -1], [0, 0, 2]])
    image = np.arange(1.0, 7).reshape(1, 2, 3)
    game = jaxshap.baseline(lambda x: (x**2).sum((1, 2)), image, np.zeros((2, 3)), players=players)
    np.testing.assert_allclose(game.empty, [9.0])
    np.testing.assert_allclose(jaxshap.shapley_values(game)[:, 0], [16 + 25, 1 + 4, 36])


def test_tokens_are_replaced_by_a_mask_token_and_stay_whole_numbers():
    table = jnp.asarray(np.random.default_rng(2).normal(size=(11, 4)), jnp.float32)

    def model(tokens):
        assert isinstance(tokens, jax.Array)  # traced, not run on the host
        assert jnp.issubdtype(tokens.dtype, jnp.integer)
        return jnp.tanh(table[tokens].sum(1)).sum(1)

    sentences, mask = np.array([[3, 1, 4, 1], [5, 9, 2, 6]]), np.zeros((1, 4), int)
    result = jaxshap.explain(
        model, sentences, mask, groups=jaxshap.tokens(4, ["the", "cat", "sat", "down"])
    )
    np.testing.assert_allclose(
        result.values.sum(1) + result.base_values, model(jnp.asarray(sentences)), atol=1e-5
    )
    assert result.feature_names == ("the", "cat", "sat", "down")
    np.testing.assert_array_equal(result.data, sentences)


def test_embedded_tokens_are_replaced_by_a_vector():
    rng = np.random.default_rng(3)
    sentences, vector = rng.normal(size=(2, 5, 3)), rng.normal(size=(1, 5, 3))
    result = jaxshap.explain(
        lambda x: jnp.tanh(x.sum((1, 2))), sentences, vector, groups=jaxshap.tokens(5)
    )
    assert result.values.shape == (2, 5)


def dictionary(rng, count):
    return {
        "age": rng.normal(size=count),
        "image": rng.normal(size=(count, 2, 2)),
        "text": rng.normal(size=(count, 3)),
    }


def of_dictionary(inputs):
    return (
        jnp.tanh(inputs["age"] * inputs["image"].sum((1, 2)))
        + inputs["text"].prod(1) * inputs["age"]
    )


def test_leaves_of_a_dictionary_are_players():
    rng = np.random.default_rng(4)
    rows, background = dictionary(rng, 3), dictionary(rng, 4)
    result = jaxshap.explain(of_dictionary, rows, background, groups=jaxshap.leaves(rows))
    assert result.feature_names == ("age", "image", "text")
    for row in range(3):

        def worth(present, row=row):
            mixed = {
                name: np.broadcast_to(rows[name][row], background[name].shape)
                if name in present
                else background[name]
                for name in rows
            }
            return float(of_dictionary(mixed).mean())

        age = (worth("age") - worth("")) / 3 + (
            worth(["age", "image", "text"]) - worth(["image", "text"])
        ) / 3
        age += (
            worth(["age", "image"]) - worth(["image"]) + worth(["age", "text"]) - worth(["text"])
        ) / 6
        np.testing.assert_allclose(result.values[row, 0], age, atol=1e-5)


def test_parts_with_players_of_their_own_play_together_and_others_stay():
    rng = np.random.default_rng(5)
    rows, background = dictionary(rng, 3), dictionary(rng, 4)
    players = jaxshap.together(
        {"age": None, "image": jaxshap.patches((2, 2), 1), "text": jaxshap.tokens(3)}
    )
    assert players.names[0] == "image 0,0"
    assert players.names[-1] == "text 2"
    game = jaxshap.marginal(of_dictionary, rows, background, players=players)
    kept = [{**background, "age": np.full(4, age)} for age in rows["age"]]
    np.testing.assert_allclose(game.empty, [of_dictionary(one).mean() for one in kept], atol=1e-6)
    on_host = jaxshap.marginal(jaxshap.host(of_dictionary), rows, background, players=players)
    np.testing.assert_allclose(worths(game), worths(on_host), atol=1e-5)
    np.testing.assert_allclose(game.empty, on_host.empty, atol=1e-6)


def test_an_explanation_of_several_arrays_is_saved_and_indexed(tmp_path):
    rng = np.random.default_rng(6)
    rows, background = dictionary(rng, 3), dictionary(rng, 2)
    result = jaxshap.explain(of_dictionary, rows, background, groups=jaxshap.leaves(rows))
    result.save(tmp_path / "it.npz")
    back = jaxshap.load(tmp_path / "it.npz")
    assert back.data.keys() == {"age", "image", "text"}
    np.testing.assert_array_equal(back.data["image"], rows["image"])
    assert back[1, "age"].data["image"].shape == (1, 2, 2)
    assert "age" in repr(back)


def test_many_rows_and_references_do_not_change_the_worths_of_an_image(monkeypatch):
    rng = np.random.default_rng(7)
    images, background = rng.normal(size=(5, 4, 4)), rng.normal(size=(9, 4, 4))
    players = jaxshap.patches((4, 4), 2)
    whole = worths(jaxshap.marginal(image_model, images, background, players=players))
    monkeypatch.setattr("jaxshap.values.masked.byte_limit", lambda: 700)
    np.testing.assert_allclose(
        worths(jaxshap.marginal(image_model, images, background, players=players)), whole, atol=1e-5
    )


IMAGES = np.ones((2, 4, 4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jaxshap.patches((4, 4), 0), "size=0: pass a whole number, 1 or more"),
        (lambda: jaxshap.patches((4, 4), (1, 2, 3)), "one positive length"),
        (lambda: jaxshap.segments(np.array([[0, 1]]), ["a"]), "1 names for 2 labels"),
        (lambda: jaxshap.segments(np.array([[0.5, 1]])), "whole numbers"),
        (lambda: jaxshap.tokens(3, ["a"]), "1 names for 3 tokens: pass as many"),
        (lambda: jaxshap.Players(np.array([0, 0]), ("a", "b")), r"\['b'\] own nothing"),
        (lambda: jaxshap.Players(np.array([0, 2]), ("a", "b")), "whole numbers from"),
        (lambda: jaxshap.leaves({}), "no arrays"),
        (lambda: jaxshap.together({"a": 3}), "tree of players"),
        (
            lambda: jaxshap.explain(image_model, IMAGES, IMAGES, groups=jaxshap.patches((5, 4), 2)),
            r"inputs of shape \(4, 4\), and the players are those of inputs of shape \(5, 4\)",
        ),
        (
            lambda: jaxshap.explain(
                image_model, IMAGES[:, 0], np.ones((1, 3)), groups=jaxshap.tokens(4)
            ),
            r"the background has inputs of shape \(3,\)",
        ),
        (
            lambda: jaxshap.explain(image_model, IMAGES, IMAGES, groups=jaxshap.leaves({"a": 1})),
            "has the structure",
        ),
        (lambda: jaxshap.explain(image_model, IMAGES, IMAGES), "must be a non-empty table"),
        (
            lambda: jaxshap.marginal(
                of_dictionary, np.ones((2, 3), int), np.ones((1, 3)), players=jaxshap.tokens(3)
            ),
            "they would mix",
        ),
    ],
)
def test_players_that_do_not_fit_say_so_before_work_starts(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_a_model_whose_outputs_change_shape_with_the_mask_is_refused():
    def model(rows):
        return np.ones((len(rows), 2 if rows.any() else 1))

    with pytest.raises(ValueError, match="must not depend on what is masked"):
        jaxshap.explain(jaxshap.host(model), np.ones((2, 3)), np.zeros((1, 3)))
