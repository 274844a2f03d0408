"""What a reader asks of the report: two rows beside each other, and what if a feature moved."""

import json

import numpy as np
import pytest
from browser import find_browser, open_page

import jaxshap
from jaxshap.report import report_html
from jaxshap.report import what_if as asking

needs_browser = pytest.mark.skipif(find_browser() is None, reason="no Chromium here")
HEADLINE = "document.getElementById('what-if-headline').textContent"
NAMES = ("</script><b>", 'q"&<i>', "place", "plain", "still")


def model(rows):
    return np.stack([rows[:, 0] * rows[:, 1] + 3 * rows[:, 2], rows[:, 3] ** 2], axis=1)


def make_explanation(predict, num_rows=12, **options):
    rows = np.random.default_rng(0).normal(size=(40, len(NAMES)))
    rows[:, 2] = np.arange(40) % 3
    rows[:, 4] = 0
    names = {"feature_names": NAMES, "output_names": ("no", "<yes>")} | options
    return jaxshap.explain(jaxshap.host(predict), rows[:num_rows], rows[12:], **names)


@pytest.fixture(scope="module")
def explained():
    return make_explanation(model)


def payload(page):
    _, _, rest = page.partition('id="data">')
    return json.loads(rest.partition("</script>")[0])["what_if"]


def moved(ex, row, feature, value):
    rows = ex.data[[row]].copy()
    rows[0, feature] = value
    return model(rows)[0]


def test_curves_are_predictions_of_rows_whose_one_feature_is_moved(explained):
    found = payload(report_html(explained, what_if=5))
    np.testing.assert_allclose(np.transpose(found["own"]), model(explained.data[:5]), rtol=1e-5)
    assert {move["feature"] for move in found["moves"]} == {0, 1, 2, 3}  # the last one is constant
    for move in found["moves"]:
        assert len(move["grid"]) == (3 if move["feature"] == 2 else 25)
        expected = [
            [moved(explained, row, move["feature"], value) for value in move["grid"]]
            for row in range(5)
        ]
        np.testing.assert_allclose(
            np.moveaxis(move["curves"], 0, -1), expected, rtol=1e-4, atol=1e-5
        )


def test_points_of_a_curve_occur_in_the_data(explained):
    known = np.concatenate([explained.data, explained.source.asked[2]])
    for move in asking.what_if_of(explained, 2).moves:
        assert set(move.grid) <= set(known[:, move.feature])


def test_rows_and_outputs_that_were_picked_are_those_that_are_moved(explained):
    picked = explained[[7, 3], :, "<yes>"]
    found = asking.what_if_of(picked, 2)
    np.testing.assert_allclose(found.own, model(explained.data[[7, 3]])[:, 1])
    (move,) = [move for move in found.moves if move.feature == 3]
    np.testing.assert_allclose(move.curves, np.tile(move.grid**2, (2, 1)), rtol=1e-6)


def test_the_model_is_asked_only_when_told_to_and_about_as_many_rows_as_said():
    asked = []

    def counted(rows):
        asked.append(len(rows))
        return model(rows)

    ex = make_explanation(counted)
    asked.clear()
    assert payload(report_html(ex)) is None
    assert asked == []
    report_html(ex, what_if=4)
    assert 4 * 70 < sum(asked) <= 4 * (78 + 1) * 1.1
    asked.clear()
    report_html(ex, what_if=10**6)
    assert sum(asked) <= len(ex) * (78 + 1) * 1.1


def test_many_outputs_leave_fewer_rows(explained, monkeypatch):
    monkeypatch.setattr(asking, "MAX_PREDICTIONS", 700)
    assert len(asking.what_if_of(explained, 12).own) == 700 // (2 * 78)
    monkeypatch.setattr(asking, "MAX_PREDICTIONS", 1)
    assert len(asking.what_if_of(explained, 12).own) == 1


def test_trees_are_moved_along_the_margin_that_is_explained():
    ensemble = pytest.importorskip("sklearn.ensemble")
    rows = np.random.default_rng(1).normal(size=(80, 3))
    kind = (rows[:, 0] + rows[:, 1] ** 2 > 1).astype(int)
    boosted = ensemble.GradientBoostingClassifier(n_estimators=5).fit(rows, kind)
    ex = jaxshap.explain(boosted, rows[:6], rows[:30])
    found = asking.what_if_of(ex, 6)
    np.testing.assert_allclose(found.own, boosted.decision_function(rows[:6]), rtol=1e-5)
    copies = np.repeat(rows[:1], len(found.moves[0].grid), axis=0)
    copies[:, found.moves[0].feature] = found.moves[0].grid
    np.testing.assert_allclose(
        found.moves[0].curves[0], boosted.decision_function(copies), rtol=1e-5
    )


def test_a_jax_model_and_a_table_with_words_and_gaps_can_be_moved():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"kind": ["a", "b", "c", "a"] * 3, "size": np.arange(12.0)})
    table.loc[1, "size"] = np.nan

    def predict(frame):
        return frame["size"].fillna(-1).to_numpy() + 10 * (frame["kind"] == "b").to_numpy()

    ex = jaxshap.explain(predict, table, table)
    found = asking.what_if_of(ex, 2)
    kind, size = sorted(found.moves, key=lambda move: move.feature)
    words = [ex.words["kind"][int(code)] for code in kind.grid]
    assert words == ["a", "b", "c"]
    np.testing.assert_allclose(kind.curves, [[0, 10, 0], [-1, 9, -1]])
    assert np.isfinite(size.grid).all()
    in_jax = jaxshap.explain(lambda x: x[:, 0] * x[:, 1], np.eye(2), np.ones((3, 2)))
    np.testing.assert_allclose(asking.what_if_of(in_jax, 2).own, [0, 0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, "asks the model"),
        (lambda ex: ex[:, ["place"]], "asks the model"),
        (lambda ex: ex.abs, "asks the model"),
        (lambda ex: make_explanation(model, groups={"both": [0, 1]}), "groups of columns"),
        (
            lambda ex: make_explanation(model, output_names=None, outputs=jaxshap.Top(1)),
            r"Top\(k\)",
        ),
        (
            lambda ex: make_explanation(
                model, output_names=None, reward=lambda worths: worths.sum(-1)
            ),
            "a reward",
        ),
    ],
)
def test_what_has_no_model_of_its_columns_is_refused(explained, tmp_path, change, message):
    explained.save(tmp_path / "ex.npz")
    ex = jaxshap.load(tmp_path / "ex.npz") if change is None else change(explained)
    with pytest.raises(jaxshap.InputError, match=message):
        jaxshap.write_report(ex, tmp_path / "page.html", what_if=3)
    assert not (tmp_path / "page.html").exists()
    jaxshap.write_report(ex, tmp_path / "page.html")


@pytest.mark.parametrize("count", [-1, 1.5, "all", True])
def test_a_count_of_rows_that_is_none_is_refused(explained, count):
    with pytest.raises((ValueError, TypeError), match="what_if"):
        report_html(explained, what_if=count)


# In a browser


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    ex = make_explanation(model, estimator=jaxshap.Kernel(), budget=20)
    assert not ex.exact
    path = tmp_path_factory.mktemp("page") / "report.html"
    jaxshap.write_report(ex, path, what_if=5)
    with open_page(path.as_uri() + "#row=3&output=0&other=8") as page:
        yield page, ex
        assert page.problems == []
        assert page.requests == [path.as_uri()]


@needs_browser
def test_two_rows_stand_beside_each_other_the_largest_difference_first(page):
    page, ex = page
    page.run("state.output = 0, pick(3), compareWith(8)")
    apart = ex.values[3, :, 0] - ex.values[8, :, 0]
    order = np.argsort(-np.abs(apart), kind="stable")
    names = page.run("[...document.querySelectorAll('#pairs text title')].map(t => t.textContent)")
    assert [name.rpartition(" = ")[0] for name in names] == [NAMES[i] for i in order]
    cells = page.run(
        "[...document.querySelector('#pair-numbers tbody tr').cells].map(c => c.textContent)"
    )
    first = order[0]
    halves = ex.interval().upper - ex.values
    shown = [apart[first], ex.values[3, first, 0], ex.values[8, first, 0]]
    bounds = [halves[3, first, 0] + halves[8, first, 0], halves[3, first, 0], halves[8, first, 0]]
    parts = [cell.replace("−", "-").split(" ± ") for cell in cells[1:4]]
    for (value, bound), expected, error in zip(parts, shown, bounds, strict=True):
        assert float(value) == pytest.approx(expected, abs=10 ** -len(value.partition(".")[2]))
        assert float(bound) == pytest.approx(error, rel=0.06)
    bars = page.run(
        "[...document.querySelectorAll('#pairs rect')].map(r => +r.getAttribute('width'))"
    )
    sizes = np.abs(ex.values[[3, 8]][:, order, 0]).T.ravel()
    wide = np.array(bars) > 2
    assert wide.sum() > 4
    ratio = np.array(bars)[wide] / sizes[wide]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-3)
    total = (ex.base_values + ex.values.sum(1))[[3, 8], 0]
    headline = page.run("at('comparison-headline').textContent").replace("−", "-")
    assert headline.startswith("Output “no” of row 3 less that of row 8")
    assert f"a difference of {total[0] - total[1]:+.3g}" in headline


@needs_browser
def test_the_other_row_is_in_the_address_and_goes_when_its_box_is_emptied(page):
    page, _ = page
    page.run("pick(2), compareWith(99)")
    assert "other=11" in page.run("location.hash")
    page.run("at('other').value = '', at('other').dispatchEvent(new Event('change'))")
    assert page.run("at('comparison').hidden")
    assert "other" not in page.run("location.hash")
    page.run("location.hash = '#row=1&other=2'")
    page.run("new Promise(done => setTimeout(done, 50))")
    assert not page.run("at('comparison').hidden")
    page.run("compareWith(1)")
    assert "the row itself" in page.run("at('comparison-headline').textContent")


@needs_browser
def test_a_feature_moves_along_its_curve_and_back(page):
    page, ex = page
    page.run("state.output = 0, pick(1), moveFeature(0)")
    feature = page.run("report.what_if.moves[0].feature")
    own = f"{model(ex.data[[1]])[0, 0]:.4g}".replace("-", "−")
    assert page.run(HEADLINE).startswith(f"Row 1 as it is, {NAMES[feature]} = ")
    assert page.run(HEADLINE).endswith(f"output “no” {own}")
    assert page.run("at('own-value').disabled")
    bars = page.run("document.getElementById('waterfall').innerHTML")
    page.run("at('step').value = 0, at('step').dispatchEvent(new Event('input'))")
    value = page.run("stepsOf(1)[0].value")
    there = f"{moved(ex, 1, feature, value)[0]:.4g}".replace("-", "−")
    assert f"{there} in place of {own}" in page.run(HEADLINE)
    assert page.run("document.getElementById('waterfall').innerHTML") == bars  # values do not move
    page.click("#own-value")
    assert page.run(HEADLINE).endswith(own)


@needs_browser
def test_the_keyboard_and_a_click_move_it_too(page):
    page, _ = page
    plain = "report.what_if.moves.findIndex((move) => move.feature === 3)"
    page.run(f"pick(0), moveFeature({plain}), moveTo(3), at('step').focus()")
    page.press("ArrowRight", 39)
    assert page.run("state.step") == 4
    assert page.run("at('step').getAttribute('aria-valuetext')") == page.run(
        "shownAs(3, stepsOf(0)[4].value)"
    )
    page.run("at('curve').scrollIntoView({block: 'center'})")
    x, y = page.run(
        "(() => { const dots = [...at('curve').querySelectorAll(\"circle[r='2.5']\")];"
        "const box = dots.at(-1).getBoundingClientRect(); return [box.x + 2, box.y + 2]; })()"
    )
    page.click_at(x, y)
    assert page.run("state.step") == page.run("stepsOf(0).length - 1")


@needs_browser
def test_a_row_without_curves_says_which_have_them(page):
    page, _ = page
    page.run("pick(9)")
    assert "rows 0 to 4 alone" in page.run("at('what-if-elsewhere').textContent")
    assert page.run("at('what-if-here').hidden")
    page.run("pick(4)")
    assert not page.run("at('what-if-here').hidden")


@needs_browser
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_of_the_page(page, width):
    page, _ = page
    page.run("pick(3), compareWith(8), moveFeature(0)")
    page.resize(width, 900)
    page.run("new Promise(done => setTimeout(done, 100))")
    assert page.run("document.documentElement.scrollWidth") <= width
    for svg in ("pairs", "curve"):
        boxes = f"[...document.querySelectorAll('#{svg} *')].map(e => e.getBoundingClientRect())"
        assert page.run(f"Math.max(...{boxes}.map(box => box.right))") <= width + 1
        assert page.run(f"Math.min(...{boxes}.map(box => box.left))") >= -1
    page.resize(1280, 900)


@needs_browser
@pytest.mark.parametrize("case", ["words", "one row", "unknown", "no curves"])
def test_unusual_explanations_are_asked_without_a_problem(tmp_path, case):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"<b>": ["<i>x</i>", "b", None, "a"] * 3, "size": np.arange(12.0)})
    table.loc[1, "size"] = np.nan
    rows = table.iloc[:1] if case == "one row" else table
    ex = jaxshap.explain(
        lambda frame: frame["size"].fillna(-1).to_numpy() + 9.0 * (frame["<b>"] == "b"), rows, table
    )
    if case == "unknown":
        ex.std_error[:] = np.nan
    path = tmp_path / "report.html"
    jaxshap.write_report(ex, path, what_if=0 if case == "no curves" else 3)
    with open_page(path.as_uri(), 390, 800) as page:
        assert page.run("at('compare').hidden") == (case == "one row")
        assert page.run("at('what-if').hidden") == (case == "no curves")
        page.run("compareWith(numRows - 1)")
        for row in range(0 if case == "no curves" else min(3, len(ex))):
            page.run(f"pick({row}), report.what_if.moves.forEach((_, i) => moveFeature(i))")
            for feature in range(2):
                page.run(f"moveFeature({feature}), moveTo(1)")
        text = page.run("document.querySelector('main').innerHTML")
        assert "NaN" not in text
        assert "undefined" not in text
        assert page.problems == []
