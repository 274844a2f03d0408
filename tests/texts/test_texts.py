"""Texts as players: for models of strings and of tokens, exactly as by definition."""

import functools

import jax
import numpy as np
import pytest
from small_models import Fast, by_orderings, of_tokens, of_vectors, parameters, wordpieces

import jaxshap
from jaxshap import texts
from jaxshap.errors import EvaluationError, InputError, InputTypeError, ModelOutputError

WEIGHTS = parameters()
MODEL = jax.tree_util.Partial(of_tokens, WEIGHTS)
SENTENCE = "not so bad, a unkind day"  # unkind is two tokens, the comma one of "bad,"
IDS = {
    0: [5],
    1: [6],
    2: [7, 11],
    3: [8],
    4: [12, 13],
    5: [10],
}  # by hand: the tokens of each word


def unpadded(tokens, present=None):
    """The model's output for one list of tokens, without any padding."""
    ids = np.array([tokens], np.int32)
    mask = np.ones_like(ids) if present is None else np.array([present], np.int32)
    return np.asarray(MODEL(ids, mask))[0]


def masked(players, absent, start=(1,), end=(2,)):
    """The sentence's tokens by hand: [CLS] … [SEP], `absent` in place of each absent token."""
    middle = [t if w in players else absent for w, tokens in IDS.items() for t in tokens]
    return [*start, *(t for t in middle if t is not None), *end]


@functools.cache
def expected(kind):
    if kind == "mask":
        return by_orderings(lambda players: unpadded(masked(players, 3)), len(IDS))
    if kind == "removed":
        return by_orderings(lambda players: unpadded(masked(players, None)), len(IDS))
    if kind == "hidden":

        def hidden(players):
            tokens = masked(players, 0)
            return unpadded(tokens, [int(token != 0) for token in tokens])

        return by_orderings(hidden, len(IDS))

    vector = np.linspace(-1, 1, 6).astype(np.float32)

    def embedded(players):
        tokens = np.array(masked(players, -1))
        vectors = np.where(tokens[:, None] == -1, vector, np.asarray(WEIGHTS["table"])[tokens])
        mask = np.ones((1, len(tokens)), np.int32)
        return np.asarray(of_vectors(WEIGHTS, vectors[None], mask))[0]

    return by_orderings(embedded, len(IDS))


def kinds():
    vector = np.linspace(-1, 1, 6).astype(np.float32)
    embed = jax.tree_util.Partial(lambda table, ids: table[ids], WEIGHTS["table"])
    return {
        "mask": (MODEL, texts.MaskToken()),
        "removed": (MODEL, texts.Removed()),
        "hidden": (MODEL, texts.Hidden()),
        "embedded": (
            jax.tree_util.Partial(of_vectors, WEIGHTS),
            texts.Embedded(embed, vector),
        ),
    }


@pytest.mark.parametrize("kind", ["mask", "removed", "hidden", "embedded"])
def test_values_of_token_models_are_those_of_the_definition_whatever_absent_means(kind):
    model, absent = kinds()[kind]
    (explained,) = texts.explain_texts(model, [SENTENCE], tokenizer=wordpieces(), absent=absent)
    assert explained.feature_names == ("not", "so", "bad,", "a", "unkind", "day")
    np.testing.assert_allclose(explained.values[0], expected(kind), atol=2e-6)
    assert explained.absent == absent.words


def test_texts_of_different_lengths_have_players_of_their_own_and_share_one_program(compilations):
    together = ["so bad", SENTENCE[:14], "a good day , not so bad"]
    with compilations() as names:
        explained = texts.explain_texts(
            lambda ids, mask: MODEL(ids, mask), together, tokenizer=wordpieces()
        )
    assert [len(one.feature_names) for one in explained] == [2, 4, 7]
    assert names.count("jit(_called)") == 2  # of 8 tokens, and of 12
    for text, one in zip(together, explained, strict=True):
        (alone,) = texts.explain_texts(MODEL, [text], tokenizer=wordpieces())
        np.testing.assert_allclose(one.values, alone.values, atol=2e-6)
    np.testing.assert_allclose(
        explained[0].base_values + explained[0].values.sum(1),
        unpadded([1, 6, 7, 2])[None],
        atol=2e-6,
    )


@pytest.mark.filterwarnings("error")
def test_parameters_that_are_arguments_are_no_closure_however_large():
    large = {"table": np.pad(WEIGHTS["table"], ((0, 800_000), (0, 0)))}  # 18 MB, a warning's worth
    model = jax.tree_util.Partial(of_tokens, WEIGHTS | large)
    (explained,) = texts.explain_texts(model, ["so bad"], tokenizer=wordpieces())
    assert explained.exact


def up_to_seven(ids, mask):
    """A model of up to 7 tokens, which has no positions for more."""
    vectors = WEIGHTS["table"][ids] + WEIGHTS["place"][:7][: ids.shape[1]]
    return (vectors * mask[..., None].astype(vectors.dtype)).sum((1, 2))


def test_padding_is_omitted_where_the_model_takes_no_more_and_longer_texts_are_refused():
    (explained,) = texts.explain_texts(up_to_seven, ["so bad a good day"], tokenizer=wordpieces())
    assert len(explained.feature_names) == 5  # 7 tokens, which would be padded to 8
    with pytest.raises(InputError, match=r"an input of 8 tokens.*pass max_length="):
        texts.explain_texts(up_to_seven, ["so bad a good day ."], tokenizer=wordpieces())


def test_tokenisers_of_transformers_give_the_same_values():
    first, second = (
        texts.explain_texts(MODEL, ["so bad a day"], tokenizer=tokenizer)[0]
        for tokenizer in (wordpieces(), Fast(wordpieces()))
    )
    np.testing.assert_array_equal(first.values, second.values)


def test_padding_and_truncation_of_the_tokeniser_itself_change_nothing():
    tokenizer = wordpieces()
    tokenizer.enable_padding(length=20)
    tokenizer.enable_truncation(20)
    first, second = (
        texts.explain_texts(MODEL, ["so bad a day"], tokenizer=one)[0]
        for one in (wordpieces(), tokenizer)
    )
    np.testing.assert_array_equal(first.values, second.values)


def test_a_model_of_tokens_on_the_host_gets_numpy_and_no_input_twice():
    seen = []

    def model(ids, mask):
        seen.extend(map(bytes, ids))
        return np.asarray(MODEL(ids, mask))

    host = texts.explain_texts(
        jaxshap.host(model), ["so bad a day", "so bad a day"], tokenizer=wordpieces()
    )
    device = texts.explain_texts(MODEL, ["so bad a day"], tokenizer=wordpieces())
    np.testing.assert_allclose(host[1].values, device[0].values, atol=2e-6)
    assert len(seen) == len(set(seen)) == 16


def test_tokens_sentences_and_matches_are_players():
    tokenizer = wordpieces()
    (explained,) = texts.explain_texts(
        MODEL, ["bad, unkind"], tokenizer=tokenizer, players=texts.pieces(tokenizer)
    )
    assert explained.feature_names == ("bad", ",", "un", "kind")
    model = lambda strings: [float(len(string)) for string in strings]  # noqa: E731
    text = "Who? Me. “Not you!” he said… 今日は。明日も。 end"
    (explained,) = texts.explain_texts(model, [text], players=texts.sentences)
    assert explained.feature_names == (
        "Who?",
        "Me.",
        "“Not you!”",
        "he said…",
        "今日は。",
        "明日も。",
        "end",
    )
    pattern = texts.matches(r"[a-z]+")
    (explained,) = texts.explain_texts(model, ["1 a-b 2"], players=pattern)
    assert explained.feature_names == ("a", "b")
    assert explained.base_values[0] == len("1 - 2")


def absent_strings(text, absent, **options):
    """What a model of strings is asked, by which words are there."""
    asked = []

    def model(strings):
        asked.extend(strings)
        return [float(len(string)) for string in strings]

    texts.explain_texts(model, [text], absent=absent, **options)
    return asked


def test_absent_words_are_taken_out_with_one_space_and_the_text_itself_is_not_changed():
    asked = absent_strings("  so   bad\na day ", texts.Removed())
    assert len(asked) == 2**4
    assert {"  so   bad\na day ", "  so   day ", "  bad\na", "  a day ", ""} <= set(asked)


def test_absent_words_are_replaced_by_the_given_string():
    asked = absent_strings("so bad", texts.Replaced("…"))
    assert set(asked) == {"so bad", "so …", "… bad", "… …"}


def test_values_of_string_models_are_those_of_the_definition():
    words = ["not", "so", "bad", "a", "day"]

    def score(text):
        return len(text) ** 0.5 + 3 * ("not bad" in text) - 2 * ("so bad a" in text)

    def worth(players):
        return score(" ".join(word for i, word in enumerate(words) if i in players))

    (explained,) = texts.explain_texts(lambda strings: [*map(score, strings)], [" ".join(words)])
    np.testing.assert_allclose(explained.values[0], by_orderings(worth, 5), atol=1e-12)
    assert explained.std_error.max() == 0


def test_the_largest_outputs_of_each_text_named_ones_or_a_function_are_explained():
    asked, names = [], ["long", "a", "short"]

    def model(strings):
        asked.extend(strings)
        return np.array([[len(one), one.count("a"), 9 - len(one)] for one in strings], float)

    given = ["a b c", "aa dog that runs"]
    whole = texts.explain_texts(model, given, output_names=names)
    asked.clear()
    top = texts.explain_texts(model, given, outputs=jaxshap.Top(2), output_names=names)
    assert len(asked) == 8 + 16
    for one, all_of_it, order in zip(top, whole, ([0, 2], [0, 1]), strict=True):
        np.testing.assert_allclose(one.values, all_of_it.values[..., order], atol=1e-12)
        assert one.row_outputs.tolist() == [[names[number] for number in order]]
        assert f"\n{names[order[1]]} " in repr(one)
    named = texts.explain_texts(model, given, outputs=["short"], output_names=names)[0]
    assert named.output_names == ("short",)
    np.testing.assert_allclose(named.values, whole[0].values[..., 2:], atol=1e-12)
    less = texts.explain_texts(model, given, outputs=lambda y: y[:, 0] - y[:, 1])[1]
    gains = whole[1].values
    np.testing.assert_allclose(less.values, gains[..., 0] - gains[..., 1], atol=1e-12)
    with pytest.raises(InputError, match="asks for 4 outputs"):
        texts.explain_texts(model, given, outputs=jaxshap.Top(4))


def test_some_outputs_of_a_model_of_tokens_are_those_among_all():
    how = {"tokenizer": wordpieces()}
    (whole,) = texts.explain_texts(MODEL, ["so bad day"], **how)
    (second,) = texts.explain_texts(MODEL, ["so bad day"], outputs=1, **how)
    (top,) = texts.explain_texts(MODEL, ["so bad day"], outputs=jaxshap.Top(2), **how)
    order = np.argsort(-unpadded([1, 6, 7, 10, 2]))
    np.testing.assert_allclose(second.values, whole.values[..., 1:], atol=1e-6)
    np.testing.assert_allclose(top.values, whole.values[..., order], atol=1e-6)


@pytest.mark.usefixtures("unchecked")
def test_a_column_of_a_table_is_a_list_of_texts_and_a_table_is_not():
    pandas = pytest.importorskip("pandas")
    lengths = lambda strings: [float(len(one)) for one in strings]  # noqa: E731
    column = pandas.Series(["so bad", "not so good"], index=[7, 3])
    assert [one.text for one in texts.explain_texts(lengths, column)] == column.tolist()
    with pytest.raises(InputTypeError, match="as a list of strings"):
        texts.explain_texts(lengths, column.to_frame())


@pytest.mark.parametrize(
    "options",
    [{}, {"estimator": jaxshap.Kernel()}, {"within": texts.sentences}, {"tol": 0.1}],
    ids=lambda options: next(iter(options), "default"),
)
def test_a_budget_too_small_for_the_longest_text_is_refused_before_any_is_paid_for(options):
    given = ["so bad", "not so. a good day, so good", "a good day"]
    with pytest.raises(jaxshap.BudgetError, match="budget=6"):
        texts.explain_texts(never, given, budget=6, **options)
    lengths = lambda strings: [float(len(one)) for one in strings]  # noqa: E731
    assert len(texts.explain_texts(lengths, given, budget=30, **options)) == 3


@pytest.mark.parametrize("options", [{}, {"tol": 0.01}, {"within": texts.sentences}])
def test_a_text_of_one_word_among_others_gets_everything_exactly(options):
    model = lambda strings: [len(one) ** 1.5 + ("so" in one) for one in strings]  # noqa: E731
    given = ["so bad", "kind", "a day. so good"]
    explained = texts.explain_texts(model, given, **options)
    (whole,) = np.diff(model(["", "kind"]))
    np.testing.assert_allclose(explained[1].values, [[whole]], atol=1e-12)
    assert explained[1].exact
    assert explained[1].std_error.tolist() == [[0]]
    assert "kind(+8)" in repr(explained[1])
    for number in (0, 2):
        (alone,) = texts.explain_texts(model, given[number : number + 1], **options)
        np.testing.assert_allclose(explained[number].values, alone.values, atol=1e-12)


def test_a_word_of_several_tokens_among_other_texts_gets_everything_exactly():
    one = texts.explain_texts(MODEL, ["unkind", SENTENCE], tokenizer=wordpieces())[0]
    whole = unpadded([1, 12, 13, 2]) - unpadded([1, 3, 3, 2])
    np.testing.assert_allclose(one.values[0, 0], whole, atol=2e-6)
    assert one.exact


def test_a_string_is_asked_about_once_over_all_texts_and_coalitions():
    seen = []

    def model(strings):
        seen.extend(strings)
        return [float(len(string)) for string in strings]

    texts.explain_texts(model, ["so so bad", "so bad bad", "bad so"])
    assert len(seen) == len(set(seen))
    seen.clear()
    (explained,) = texts.explain_texts(model, [" ".join("abcdefghijklmnop")], budget=200)
    assert len(seen) == len(set(seen)) <= explained.num_evaluations <= 200


def never(*_):
    raise AssertionError("the model was asked")


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("kind", "message", "given", "options"),
    [
        (InputTypeError, "call it first", ["so bad"], {"players": texts.pieces}),
        (InputError, r"texts\[1\] is empty", ["so bad", " \n"], {}),
        (InputError, r"texts\[0\] has a single player, 'bad':", [" bad "], {}),
        (InputError, "and so has each of texts", ["bad", "good"], {}),
        (InputError, "there are no texts", [], {}),
        (InputTypeError, "as a list of strings", "so bad", {}),
        (InputTypeError, r"texts\[0\] is int", [3], {}),
        (InputError, r"finds nothing in texts\[0\]", ["so"], {"players": texts.matches("x")}),
        (InputError, "overlap", ["so"], {"players": lambda text: [(0, 2), (1, 2)]}),
        (InputError, "counts tokens", ["so"], {"max_length": 4}),
        (InputError, "is for models of tokens", ["so bad"], {"absent": texts.Hidden()}),
    ],
)
def test_what_cannot_be_explained_is_refused_before_a_model_of_strings_is_asked(
    kind, message, given, options
):
    with pytest.raises(kind, match=message):
        texts.explain_texts(never, given, **options)


@pytest.mark.parametrize(
    ("message", "given", "options", "lacks"),
    [
        (r"texts\[1\] is empty", ["so", ""], {}, {}),
        (
            r"texts\[1\] has 6 tokens.*max_length=5",
            ["so bad", SENTENCE[:12]],
            {"max_length": 5},
            {},
        ),
        (r"texts\[0\] has a single player, 'unkind'", ["unkind"], {}, {}),
        ("has no mask token", ["so bad"], {}, {"mask": False}),
        ("no padding token.*4 to 5 tokens", ["so bad", "not so bad"], {}, {"pad": False}),
        ("no padding token.*Hidden", ["so bad"], {"absent": texts.Hidden()}, {"pad": False}),
        ("is for models of strings", ["so bad"], {"absent": texts.Replaced("x")}, {}),
        ("no token of its own", ["so"], {"players": texts.matches(".")}, {}),
    ],
)
def test_what_cannot_be_explained_is_refused_before_a_model_of_tokens_is_asked(
    message, given, options, lacks
):
    with pytest.raises(InputError, match=message):
        texts.explain_texts(never, given, tokenizer=wordpieces(**lacks), **options)


def test_a_text_that_the_tokeniser_cuts_off_is_refused():
    tokenizer = wordpieces()
    tokenizer.enable_truncation(4)
    with pytest.raises(InputError, match=r"texts\[0\] is longer than the 4 tokens"):
        texts.explain_texts(never, ["a good day"], tokenizer=tokenizer)


def test_padding_never_exceeds_what_the_tokeniser_says_that_the_model_takes():
    lengths, tokenizer = [], wordpieces()
    tokenizer.enable_truncation(9)
    fast = Fast(wordpieces())
    fast.model_max_length = 9

    def model(ids, mask):
        lengths.append(ids.shape[1])
        return np.asarray(MODEL(ids, mask))

    for one in (tokenizer, fast):
        texts.explain_texts(jaxshap.host(model), ["not so bad, a good day"], tokenizer=one)
    assert set(lengths) == {9}
    with pytest.raises(InputError, match=r"has 10 tokens.*max_length=9"):
        texts.explain_texts(never, ["not so bad, a good day so"], tokenizer=fast)


def test_texts_of_one_length_need_no_padding_token_and_a_mask_token_can_be_named():
    tokenizer = wordpieces(pad=False, mask=False)
    explained = texts.explain_texts(
        MODEL, [SENTENCE, SENTENCE], tokenizer=tokenizer, absent=texts.MaskToken(3)
    )
    np.testing.assert_allclose(explained[1].values[0], expected("mask"), atol=2e-6)


def test_a_regular_expression_that_is_none_is_refused():
    with pytest.raises(InputError, match="no regular expression"):
        texts.matches("(")


def test_whole_numbers_are_explained_as_numbers():
    (explained,) = texts.explain_texts(lambda strings: [len(one) for one in strings], ["so bad"])
    assert explained.values.sum() + explained.base_values == 6


def test_outputs_of_the_wrong_kind_are_refused():
    with pytest.raises(ModelOutputError, match="labels"):
        texts.explain_texts(lambda strings: ["bad"] * len(strings), ["so bad"])
    with pytest.raises(ModelOutputError, match="for 2 rows"):
        texts.explain_texts(lambda strings: [1.0], ["so bad"])
    with pytest.raises(ModelOutputError, match="NaN or infinity"):
        texts.explain_texts(lambda strings: [np.nan for _ in strings], ["so bad"])


def test_a_failing_model_leaves_the_texts_that_were_done():
    def model(strings):
        assert not any("bad" in string and "not" not in string for string in strings)
        return [float(len(string)) for string in strings]

    with pytest.raises(EvaluationError) as failed:
        texts.explain_texts(model, ["so good", "not so bad"], batch_size=1)
    assert [one.text for one in failed.value.explanation] == ["so good"]


@pytest.mark.parametrize("fault", [np.nan, RuntimeError("no such model"), KeyboardInterrupt()])
def test_a_model_that_fails_on_a_whole_text_leaves_the_texts_before_it(fault):
    def model(strings):
        if isinstance(fault, BaseException) and "bad news" in strings:
            raise fault
        return [fault if string == "bad news" else float(len(string)) for string in strings]

    with pytest.raises((EvaluationError, jaxshap.Interrupted)) as failed:
        texts.explain_texts(model, ["so good", "bad news"])
    assert [one.text for one in failed.value.explanation] == ["so good"]
    assert isinstance(failed.value, EvaluationError) != isinstance(fault, KeyboardInterrupt)


def test_the_game_of_a_text_is_a_game_like_any_other():
    game = texts.text_game(MODEL, SENTENCE, tokenizer=wordpieces())
    estimated = jaxshap.estimate(0, game, jaxshap.Kernel(), budget=60)
    np.testing.assert_allclose(estimated.values.sum(0), game.full - game.empty, atol=1e-5)
    np.testing.assert_allclose(jaxshap.shapley_values(game)[:, 0], expected("mask"), atol=2e-6)


def test_budgets_tolerances_and_keys_reach_the_engine():
    text = " ".join("abcdefghijkl")
    model = lambda strings: [float(len(s)) + ("a b" in s) for s in strings]  # noqa: E731
    (sampled,) = texts.explain_texts(
        model, [text], estimator=jaxshap.Permutation(), budget=100, key=3
    )
    assert sampled.num_evaluations <= 100
    assert "Permutation" in sampled.estimator
    (close,) = texts.explain_texts(model, [text], tol=0.05, budget=1000)
    assert close.std_error.max() < 0.05 * 24
