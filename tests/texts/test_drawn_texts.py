"""Explained texts are drawn with colours and errors; nothing in a text is taken for markup."""

import html.parser
import io
import pickle
import re

import numpy as np
import pytest

import jaxshap
from jaxshap import texts

NUMBER = re.compile(r"[+−]\d[\d.]*(?:e[+−]\d+)?(?:± [\d.e−]+)?")  # exact ones have no ±
ATTACK = "<script>alert(1)</script> 'quoted' \"twice\" &amp; \x1b[31mred end"


def lengths(strings):
    return [float(len(string)) for string in strings]


def signed(strings):
    return [[float("good" in s), -float("bad" in s)] for s in strings]


@pytest.fixture(scope="module")
def attack():
    return texts.explain_texts(lengths, [ATTACK])[0]


class Reader(html.parser.HTMLParser):
    """What a browser would show, and the tags it would see."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.words, self.titles = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.titles += [value for name, value in attrs if name == "title"]
        assert {name for name, _ in attrs} <= {"style", "title"}

    def handle_data(self, data):
        self.words.append(data)


def test_everything_in_the_page_is_escaped_and_the_whole_text_is_there(attack):
    page = Reader(attack._repr_html_())
    assert set(page.tags) == {"div", "span"}
    shown = "".join(page.words)
    assert "<script>alert(1)</script>" in shown
    numbers = NUMBER.findall(shown)
    assert len(numbers) == len(attack.feature_names) == len(page.titles)
    body = shown[shown.index("<script>") :]
    assert NUMBER.sub("", body) == ATTACK


def test_names_of_outputs_are_escaped():
    (one,) = texts.explain_texts(signed, ["good bad"], output_names=["<i>up", "down"])
    page = Reader(one._repr_html_())
    assert "i" not in page.tags
    assert sum("<i>up" in words for words in page.words) == 1


def test_colours_follow_sign_and_size():
    (one,) = texts.explain_texts(lambda s: [2.0 * ("a" in t) - ("b" in t) for t in s], ["a b c"])
    colours = re.findall(r"rgba\(([\d.,]+)\)", one._repr_html_())
    assert colours == ["213,94,0,0.90", "86,180,233,0.45", "213,94,0,0.00"]


def test_a_sign_that_is_not_certain_is_marked():
    data = texts.explain_texts(lengths, ["so bad"])[0]
    unsure = texts.TextExplanation(**vars(data) | {"std_error": np.array([[0.1, 9.0]])})
    unknown = texts.TextExplanation(**vars(data) | {"std_error": np.full((1, 2), np.nan)})
    assert [one._repr_html_().count("dotted") for one in (data, unsure, unknown)] == [0, 1, 2]
    assert "± 18" in repr(unsure)  # half of a 95 % interval
    assert "± ?" in repr(unknown)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_colours_and_nothing_else_does(monkeypatch, attack):
    assert "\x1b" not in repr(attack)
    assert "\\x1b[31mred(+" in repr(attack)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout", Terminal())
    coloured = repr(attack)
    assert coloured.count("\x1b[30;48;2;") == len(attack.feature_names)
    assert "\x1b[31m" not in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in repr(attack)


def test_values_have_no_more_digits_than_their_errors_and_two_classes_are_drawn_as_the_second():
    def chances(some):
        yes = np.array([0.5 + 0.1 * ("good" in text) for text in some])
        return np.stack([1 - yes, yes], axis=1)

    data = texts.explain_texts(chances, ["so good"])[0]
    assert "±" not in repr(data)
    errors = np.full((1, 2, 2), 0.0123)
    unsure = repr(texts.TextExplanation(**vars(data) | {"std_error": errors, "exact": False}))
    assert "errors of 95 % intervals up to ±0.024" in unsure
    assert "output 1 0.6, of which 0.5" in unsure
    assert "output 0" not in unsure
    assert unsure.endswith("so(+0.000 ± 0.024) good(+0.100 ± 0.024)")


def test_every_output_has_a_line_of_its_own_and_many_are_cut():
    (one,) = texts.explain_texts(signed, ["not good or bad"], output_names=["up", "down"])
    assert "up 1, of which 0" in repr(one)
    assert "down −1, of which 0" in repr(one)
    assert repr(one[:, :, "down"]).endswith("not(+0) good(+0) or(+0) bad(−1)")
    (many,) = texts.explain_texts(lambda s: np.ones((len(s), 20)), ["so bad"])
    assert "12 outputs more" in repr(many)
    assert repr(many).count("of which") == 8


def test_several_texts_are_drawn_one_below_the_other():
    several = texts.explain_texts(lengths, ["so bad", "a good day"])
    assert several._repr_html_() == "".join(one._repr_html_() for one in several)
    assert repr(several).index("so(") < repr(several).index("day(")


def test_an_explained_text_is_an_explanation(tmp_path, attack):
    assert isinstance(attack, jaxshap.Explanation)
    assert type(attack[:, ["end"]]) is jaxshap.Explanation
    assert type(attack[0]) is texts.TextExplanation
    attack.save(tmp_path / "saved.npz")
    loaded = jaxshap.load(tmp_path / "saved.npz")
    np.testing.assert_array_equal(loaded.values, attack.values)
    assert loaded.data["text"][0] == ATTACK
    assert repr(pickle.loads(pickle.dumps(attack))) == repr(attack)


def test_a_report_of_a_text_draws_it_in_its_colours(tmp_path, attack):
    jaxshap.write_report(attack, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count(attack._repr_html_()) == 1
    jaxshap.write_report(attack[:, ["end"]], tmp_path / "report.html")
    assert "The text</h2>" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_repeated_words_have_names_of_their_own():
    (one,) = texts.explain_texts(lengths, ["so so so"])
    assert one.feature_names == ("so", "so (2)", "so (3)")
