"""Words that stand together in sentences, and time as a budget of texts."""

import itertools

import numpy as np
import pytest

import jaxshap
from jaxshap import texts
from jaxshap.errors import InputError

TEXT = "So dull. Not bad at all."
SENTENCES = ((0, 1), (2, 3, 4, 5))


def score(text):
    return len(text) ** 0.5 + 3 * ("Not bad" in text) - 2 * ("dull" in text and "all" in text)


def model(strings):
    return [score(string) for string in strings]


def never(strings):
    raise AssertionError("the model was asked")


def owen_values():
    """The mean gain of each word over all orderings in which sentences stay together."""
    words = TEXT.split()

    def worth(players):
        return score(" ".join(word for number, word in enumerate(words) if number in players))

    gains, count = np.zeros(6), 0
    inside = [list(itertools.permutations(sentence)) for sentence in SENTENCES]
    for both in itertools.product(*inside):
        for order in itertools.permutations(both):
            players = sum(order, ())
            for place, player in enumerate(players):
                gains[player] += worth(players[: place + 1]) - worth(players[:place])
            count += 1
    return gains / count


def test_words_in_sentences_have_owen_values_and_are_named_so():
    (explained,) = texts.explain_texts(model, [TEXT], within=texts.sentences)
    assert explained.kind == "Owen value"
    assert "Owen values" in repr(explained)
    assert "Shapley" not in repr(explained)
    np.testing.assert_allclose(explained.values[0], owen_values(), atol=1e-12)
    together = [explained.values[0, list(sentence)].sum() for sentence in SENTENCES]
    (whole,) = texts.explain_texts(model, [TEXT], players=texts.sentences)
    np.testing.assert_allclose(together, whole.values[0], atol=1e-12)  # sums of each sentence


def test_a_text_of_one_sentence_has_shapley_values_beside_one_of_several():
    several, one = texts.explain_texts(model, [TEXT, "Not bad at all."], within=texts.sentences)
    assert (several.kind, one.kind) == ("Owen value", "Shapley value")
    (alone,) = texts.explain_texts(model, ["Not bad at all."])
    np.testing.assert_allclose(one.values, alone.values, atol=1e-12)


def test_players_outside_all_parts_stand_alone():
    within = texts.matches("Not bad at")
    (explained,) = texts.explain_texts(model, [TEXT], within=within)
    assert explained.kind == "Owen value"
    total = explained.values.sum() + explained.base_values[0]
    np.testing.assert_allclose(total, score(TEXT), atol=1e-12)


def test_a_player_across_two_parts_and_a_second_estimator_are_refused_before_the_model_is_asked():
    with pytest.raises(InputError, match=r"texts\[0\] has the player 'dull\. Not'"):
        texts.explain_texts(
            never, [TEXT], players=texts.matches(r"dull\. Not|\w+"), within=texts.sentences
        )
    with pytest.raises(InputError, match="omit estimator="):
        texts.explain_texts(never, [TEXT], within=texts.sentences, estimator=jaxshap.Permutation())


def test_seconds_are_spent_on_a_text():
    (explained,) = texts.explain_texts(model, ["Not bad at"], seconds=20)
    assert explained.exact  # there was time for all coalitions
    with pytest.raises(InputError, match="positive number of seconds"):
        texts.explain_texts(never, [TEXT], seconds=0)
