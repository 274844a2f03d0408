"""The HTML report: what it says, that it is safe, and how it behaves in a real browser."""

import csv
import dataclasses
import html.parser
import io
import json
import os
import pathlib
import re
import stat
import zipfile

import numpy as np
import pytest
from browser import find_browser, open_page

import jaxshap
from jaxshap.report import page as report
from jaxshap.report import report_html

NASTY = ("</script><b>", 'quote"s & <i>', "{{data}}", "it's\u2028", "plain")


def explanation(rows=6, outputs=("no", "<yes>"), names=NASTY, errors=True, seed=0):
    rng = np.random.default_rng(seed)
    shape = (rows, len(names), *([len(outputs)] if outputs else []))
    return jaxshap.Explanation(
        values=rng.normal(size=shape),
        std_error=rng.uniform(0.01, 0.1, size=shape) if errors else np.zeros(shape),
        base_values=rng.normal(size=(rows, *shape[2:])),
        data=rng.normal(size=(rows, len(names))),
        feature_names=names,
        output_names=outputs,
        num_evaluations=1234,
        value_function="marginal",
        estimator="Kernel()",
    )


class Reader(html.parser.HTMLParser):
    """Tags with attributes, and the text of each element with an id."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts, self.text, self._inside = [], [], "", None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data


def payload(page):
    return json.loads(Reader(page).scripts[0])


@pytest.fixture(scope="module")
def diagnosed():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(30, 4))
    rows[:, 3] = rows[:, 0]
    ex = jaxshap.explain(
        jaxshap.host(lambda x: x[:, 0] + x[:, 3] + x[:, 1] * x[:, 2]),
        rows,
        rows,
        feature_names=list("ab<d"),
    )
    return ex, ex.diagnose()


def test_the_page_holds_the_numbers_of_the_explanation():
    ex = explanation()
    found = payload(report_html(ex, labels=[0, 1.5, "x", None, True, "</script>"]))
    np.testing.assert_allclose(np.moveaxis(found["values"], 0, -1), ex.values, rtol=1e-5)
    np.testing.assert_allclose(np.moveaxis(found["errors"], 0, -1), ex.std_error, rtol=1e-5)
    np.testing.assert_allclose(np.transpose(found["base"]), ex.base_values, rtol=1e-5)
    np.testing.assert_allclose(found["data"], ex.data, rtol=1e-5)
    np.testing.assert_allclose(np.transpose(found["means"]), ex.summary().values, rtol=1e-5)
    assert found["features"] == list(NASTY)
    assert found["outputs"] == ["no", "<yes>"]
    assert found["labels"] == ["0", "1.5", "x", "None", "True", "</script>"]


def test_names_cannot_break_out_of_the_page():
    plain = Reader(report_html(explanation(names=tuple("abcde"), outputs=("no", "yes")), title="t"))
    page = report_html(
        explanation(), title='<img src=x onerror="f()">', labels=["</script>"] * 6, notes=["<b>&"]
    )
    nasty = Reader(page)
    assert len(nasty.scripts) == 2
    assert [tag for tag, _ in nasty.tags if tag != "p"] == [
        tag for tag, _ in plain.tags if tag != "p"
    ]
    assert '<img src=x onerror="f()">' in nasty.text
    assert "<b>&" in nasty.text


def test_nothing_is_fetched_from_anywhere(diagnosed):
    for page in (report_html(explanation(names=tuple("abcde"))), report_html(*diagnosed)):
        assert "http://" not in page
        assert "https://" not in page
        attributes = [attrs for _, attrs in Reader(page).tags]
        assert not any({"src", "href", "srcset"} & attrs.keys() for attrs in attributes)
        assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(", page)
        assert "default-src 'none'" in page  # and a browser enforces it


def test_the_same_explanation_makes_the_same_page():
    assert report_html(explanation()) == report_html(explanation())


def test_a_file_is_the_page(tmp_path):
    jaxshap.write_report(
        explanation(), tmp_path / "page.html", title="Ünïcode", labels=list("abcdef")
    )
    written = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert written == report_html(explanation(), title="Ünïcode", labels=list("abcdef"))


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_is_refused_and_what_it_points_to_stays_as_it_was(tmp_path, exists):
    link, target = tmp_path / "report.html", tmp_path / "precious.txt"
    if exists:
        target.write_text("precious")
    link.symlink_to(target)
    with pytest.raises(jaxshap.InputError, match="is a symbolic link: pass the path of a file"):
        jaxshap.write_report(explanation(), link)
    assert link.is_symlink()
    assert target.exists() == exists
    assert not exists or target.read_text() == "precious"
    assert set(tmp_path.iterdir()) == ({link, target} if exists else {link})


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(jaxshap.InputError, match="is not a file"):
        jaxshap.write_report(explanation(), tmp_path)


def test_an_older_report_is_replaced_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("an older report")
    path.chmod(0o600)
    jaxshap.write_report(explanation(), path)
    assert path.read_text(encoding="utf-8") == report_html(explanation())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_that_cannot_be_written_leaves_the_older_one(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("an older report")

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space left"):
        jaxshap.write_report(explanation(), path)
    assert path.read_text() == "an older report"
    assert list(tmp_path.iterdir()) == [path]


def test_a_wrong_number_of_labels_is_refused():
    with pytest.raises(ValueError, match=r"shape \(2,\) for 6 rows"):
        report_html(explanation(), labels=[0, 1])


def test_many_rows_are_cut_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(report, "MAX_ROWS", 4)
    page = report_html(explanation())
    found = payload(page)
    assert len(found["values"][0]) == len(found["base"][0]) == len(found["data"]) == 4
    np.testing.assert_allclose(
        np.transpose(found["means"]), explanation().summary().values, rtol=1e-5
    )
    assert "Rows 0 to 3 of 6 can be looked at here" in Reader(page).text
    assert "can be looked at here" not in report_html(explanation(rows=4))


def test_many_numbers_cut_rows_too_and_one_always_stays(monkeypatch):
    monkeypatch.setattr(report, "MAX_VALUES", 25)
    assert len(payload(report_html(explanation()))["values"][0]) == 2
    monkeypatch.setattr(report, "MAX_VALUES", 1)
    assert len(payload(report_html(explanation()))["values"][0]) == 1


def test_what_is_not_a_number_is_null():
    ex = explanation(outputs=None)
    std_error = np.full_like(ex.std_error, np.nan)
    data = ex.data.copy()
    data[0, :2] = np.nan, 12_345_678
    page = report_html(dataclasses.replace(ex, std_error=std_error, data=data))
    found = payload(page)
    assert found["errors"][0][0] == [None] * 5
    assert found["data"][0][0] is None
    assert found["data"][0][1] == 12_345_678
    assert "some standard errors are unknown" in Reader(page).text


def test_text_bars_and_page_have_one_interval_and_exact_values_none():
    sampled = explanation(outputs=None, names=tuple("abcde"))
    for ex in (sampled, dataclasses.replace(sampled, std_error=0 * sampled.values, exact=True)):
        page = report_html(ex)
        drawn = jaxshap.plots.bar(ex)
        whiskers = [np.ptp(part[:, 0]) / 2 for part in drawn.collections[0].get_segments()]
        order = np.argsort(-np.abs(ex.values).mean(0))
        halves = np.array(payload(page)["mean_halves"][0])[order]
        np.testing.assert_allclose(whiskers, halves[halves > 0], rtol=1e-4)
        for half, line in zip(halves, str(ex).splitlines()[2:], strict=True):
            if not ex.exact:
                text = float(line.split("±")[1].replace(",", ""))
                np.testing.assert_allclose(text, half, rtol=0.06)
        assert ("±" in str(ex)) == ("whiskers are" in page) == (not ex.exact)


def test_players_that_are_not_columns_have_no_values_of_their_own():
    found = payload(report_html(dataclasses.replace(explanation(), data=np.zeros((6, 28, 28)))))
    assert found["data"] is None


def test_one_row_one_feature_one_output():
    found = payload(report_html(explanation(rows=1, names=("only",), outputs=None)))
    assert found["outputs"] is None


def test_the_diagnosis_is_told_with_its_meaning(diagnosed):
    ex, diagnosis = diagnosed
    text = Reader(report_html(ex, diagnosis)).text
    assert diagnosis.additivity.verdict in text
    assert str(diagnosis.additivity.additive) in text
    assert f"{diagnosis.off_manifold.overall:.1%}" in text
    assert "combinations of values it may never have seen" in text
    assert "no sampling error can change their order" in text
    assert diagnosis.diluted
    group = diagnosis.diluted[0]
    assert f"{', '.join(group.features)} (rank correlation ≥ {group.dependence:.2f})" in text
    assert f"as one player {group.together:.3g} (rank {group.rank_together})" in text
    texts = {finding.topic: finding.text for finding in diagnosis.findings()}
    assert texts["additivity"][1:] in text
    assert texts["off-manifold"] in text


def test_the_strongest_pairs_are_named_where_values_alone_mislead():
    rows = np.random.default_rng(2).normal(size=(6, 3))
    ex = jaxshap.explain(jaxshap.host(lambda x: x[:, 0] * x[:, 1] + x[:, 2]), rows, rows)
    diagnosis = ex.diagnose()
    (pairs,) = [finding for finding in diagnosis.findings() if finding.topic == "pairs"]
    assert pairs.verdict == "x0 × x1"
    text = Reader(report_html(ex, diagnosis)).text
    assert f"Strongest pairs (root mean square): {pairs.text}" in text
    assert "It needs a background table of 20 rows or more" in text


def test_without_a_diagnosis_the_page_says_why_and_still_judges_the_ranking():
    text = Reader(report_html(explanation(), undiagnosed="No model & no game.")).text
    assert "No model & no game." in text
    certain = explanation().stability().certain
    assert f"in {int(certain.sum())} of {certain.size} cases" in text


def test_many_features_do_not_exhaust_the_memory():
    ex = explanation(rows=200, names=tuple(f"x{i}" for i in range(500)), outputs=None)
    assert "of 8 cases (the first 8 rows)" in Reader(report_html(ex)).text


def test_facts_name_versions_and_what_absent_means():
    text = Reader(
        report_html(
            dataclasses.replace(
                explanation(), absent="it takes its values from the background rows"
            ),
            facts={"Model": "m.joblib --quiet"},
            packages=("scipy",),
        )
    ).text
    assert "m.joblib --quiet" in text
    assert f"jaxshap {jaxshap.__version__}" in text
    assert re.search(r"scipy \d+\.\d+", text)
    assert "takes its values from the background rows" in text
    assert "1,234 coalitions" in text


def test_a_wheel_holds_the_template(tmp_path):
    hatchling = pytest.importorskip("hatchling.builders.wheel")
    root = pathlib.Path(report.__file__).parents[2]
    (built,) = hatchling.WheelBuilder(str(root)).build(
        directory=str(tmp_path), versions=["standard"]
    )
    files = {f"jaxshap/report/{name}" for name in ("page.html", "page.css", *report.SCRIPTS)}
    assert files <= set(zipfile.ZipFile(built).namelist())


# In a browser

needs_browser = pytest.mark.skipif(find_browser() is None, reason="no Chromium here")
BARS = "[...document.querySelectorAll('#waterfall rect')].map(r => r.outerHTML).join()"
HEADLINE = "document.getElementById('headline').textContent"
ROWS = "[...document.querySelectorAll('#rows tbody tr')].map(r => +r.dataset.row)"


def bar_names(svg):
    return f"[...document.querySelectorAll('#{svg} text title')].map(t => t.textContent)"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """One browser for all tests of this page, which each brings to its own place first."""
    names = (*NASTY, *(f"x{i}" for i in range(10)))
    ex = explanation(rows=20, names=names)
    ex.data[:, names.index("plain")] = 0
    ex.data[3, 3] = 94117
    ex = dataclasses.replace(ex, words={"plain": ("zero",)})
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report_html(ex, labels=["b", "a"] * 10), encoding="utf-8")
    with open_page(path.as_uri() + "#row=3") as page:
        yield page, ex
        assert page.problems == []
        assert page.requests == [path.as_uri()]


@needs_browser
def test_a_problem_would_be_seen(tmp_path):
    path = tmp_path / "bad.html"
    scripts = "<script>console.error('one')</script><script>two()</script>"
    path.write_text(f"{scripts}<img src='https://example.com/x.png'>")
    with open_page(path.as_uri()) as page:
        assert len([part for part in page.problems if "exceptionDetails" in part]) == 1
        assert len([part for part in page.problems if part.get("type") == "error"]) == 1
        assert "https://example.com/x.png" in page.requests


@needs_browser
def test_it_opens_at_the_row_of_the_address_and_shows_its_numbers(page):
    page, ex = page
    page.run("location.hash = '#row=3&output=1&order=size&most=10'")
    assert page.run(f"new Promise(done => setTimeout(() => done({HEADLINE}), 50))").startswith(
        "Row 3: output “<yes>”"
    )
    total = ex.base_values[3, 1] + ex.values[3, :, 1].sum()
    assert f"{total:.4g}".replace("-", "−") in page.run(HEADLINE)
    assert page.run(HEADLINE).endswith("true label a")
    order = np.argsort(-np.abs(ex.values[3, :, 1]))[:10]
    first = page.run(bar_names("waterfall"))
    assert len(first) == 11
    assert first[-1] == "5 smaller features"
    assert [name.rsplit(" = ", 1)[0] for name in first[:10]] == [ex.feature_names[i] for i in order]
    largest = page.run("document.querySelector('#numbers tbody tr td:nth-child(3)').textContent")
    assert float(largest.replace("−", "-")) == pytest.approx(ex.values[3, order[0], 1], rel=1e-4)
    assert page.run("document.querySelectorAll('#waterfall .whisker').length") == 11
    shown = page.run("[...document.querySelectorAll('#waterfall text')].map(t => t.textContent)")
    value, error = ex.values[3, order[0], 1], ex.std_error[3, order[0], 1]
    assert f"{value:+.3f} ± {1.96 * error:.3f}".replace("-", "−") in [text[:14] for text in shown]
    bound = min(ex.std_error[3, order, 1].sum(), np.delete(ex.std_error[3, :, 1], order).sum())
    assert [text.partition(" ± ")[2] for text in shown if "at most" in text] == [
        f"{1.96 * bound:.2f} at most"
    ]
    assert page.run("nameOf(4) + tailOf(4, 3)") == "plain = zero"
    assert page.run("tailOf(3, 3)").endswith(" = 94117")


@needs_browser
def test_bars_of_the_waterfall_lead_from_base_to_output(page):
    page, ex = page
    page.run("state.most = 0, state.output = 0, pick(4), drawAll()")
    widths = page.run(
        "[...document.querySelectorAll('#waterfall rect')].map(r => +r.getAttribute('width'))"
    )
    order = np.argsort(-np.abs(ex.values[4, :, 0]))
    share = np.array(widths) / np.abs(ex.values[4, order, 0])
    visible = np.array(widths) > 2  # thinner ones are drawn a pixel wide
    assert visible.sum() > 5
    np.testing.assert_allclose(share[visible], share[0], rtol=1e-3)
    page.run("state.most = 10, state.output = 1, drawAll()")


@needs_browser
def test_the_row_picker_changes_the_picture(page):
    page, _ = page
    page.run("pick(0)")
    assert page.run("document.getElementById('previous').disabled")
    before = page.run(BARS)
    page.click("#next")
    assert page.run(HEADLINE).startswith("Row 1:")
    assert page.run(BARS) != before
    page.click("#previous")
    assert page.run(BARS) == before
    page.click("#row")
    page.run("document.getElementById('row').select()")
    for digit in "17":
        page.send("Input.insertText", text=digit)
    page.press("Enter", 13, "\r")
    assert page.run(HEADLINE).startswith("Row 17:")
    assert "row=17" in page.run("location.hash")
    page.run("document.getElementById('row').value = 999")
    page.run("document.getElementById('row').dispatchEvent(new Event('change'))")
    assert page.run(HEADLINE).startswith("Row 19:")
    assert page.run("document.getElementById('next').disabled")


@needs_browser
def test_the_keyboard_is_enough(page):
    page, _ = page
    page.run("pick(5), document.getElementById('next').focus()")
    page.press("Enter", 13, "\r")
    assert page.run(HEADLINE).startswith("Row 6:")
    page.run("document.querySelector('#rows tbody tr[data-row=\"9\"] button').focus()")
    page.press("Enter", 13, "\r")
    assert page.run(HEADLINE).startswith("Row 9:")
    unnamed = "[...document.querySelectorAll('select, input')].filter(e => !e.labels.length).length"
    assert page.run(unnamed) == 0
    assert page.run(
        "[...document.querySelectorAll('svg')].every(e => e.getAttribute('aria-label'))"
    )


@needs_browser
def test_rows_sort_by_any_column_both_ways(page):
    page, ex = page
    page.run("state.output = 1, drawAll()")
    outputs = ex.base_values[:, 1] + ex.values[:, :, 1].sum(1)
    page.click("#rows [data-column=output]")
    assert page.run(ROWS) == np.argsort(-outputs).tolist()
    page.click("#rows [data-column=output]")
    assert page.run(ROWS) == np.argsort(outputs).tolist()
    page.click("#rows [data-column=label]")
    assert page.run(ROWS) == [*range(1, 20, 2), *range(0, 20, 2)]
    top = int(ex.summary().values[:, 1].argmax())
    page.click(f"#rows [data-column='feature {top}']")
    assert page.run(ROWS) == np.argsort(-ex.values[:, top, 1]).tolist()
    assert page.run(
        "document.querySelector('#rows th[aria-sort=descending]').textContent"
    ).endswith("▼")
    page.click("#rows [data-column=row]")
    assert page.run(ROWS) == list(range(20))


@needs_browser
def test_features_sort_by_size_name_and_column_and_all_can_be_shown(page):
    page, ex = page
    choose = "e => (e.value = '{}', e.dispatchEvent(new Event('change')))"
    means = ex.summary().values[:, 1]
    largest = np.argsort(-means)[:10]
    page.run("state.output = 1, drawAll()")
    assert page.run(bar_names("bars")) == [ex.feature_names[i] for i in largest]
    page.run(f"({choose.format('column')})(document.getElementById('order'))")
    assert page.run(bar_names("bars")) == [ex.feature_names[i] for i in sorted(largest)]
    page.run(f"({choose.format('name')})(document.getElementById('order'))")
    assert sorted(page.run(bar_names("bars"))) == sorted(ex.feature_names[i] for i in largest)
    page.run(f"({choose.format('0')})(document.getElementById('most'))")
    assert len(page.run(bar_names("strip"))) == len(ex.feature_names)
    page.run(f"({choose.format('size')})(document.getElementById('order'))")
    page.run(f"({choose.format('10')})(document.getElementById('most'))")


@needs_browser
def test_the_output_picker_changes_everything(page):
    page, ex = page
    page.run("pick(2)")
    for output, name in enumerate(ex.output_names):
        page.run(f"document.getElementById('output').value = {output}")
        page.run("document.getElementById('output').dispatchEvent(new Event('change'))")
        assert f"“{name}”" in page.run(HEADLINE)
        top = np.argsort(-ex.summary().values[:, output])[0]
        assert page.run(bar_names("bars"))[0] == ex.feature_names[top]


@needs_browser
def test_a_click_on_a_dot_picks_its_row(page):
    page, _ = page
    page.run("pick(0), document.getElementById('strip').scrollIntoView({block: 'center'})")
    x, y, row = page.run(
        "(() => { const box = at('strip').getBoundingClientRect(), "
        "dot = dots.find(d => d.row === 11 && "
        "dots.every(o => o.row === 11 || Math.hypot(o.x - d.x, o.y - d.y) > 2)); "
        "return [box.left + dot.x, box.top + dot.y, dot.row]; })()"
    )
    page.click_at(x, y)
    assert page.run("state.row") == row


@needs_browser
@pytest.mark.parametrize("width", [360, 390, 800, 1280])
def test_nothing_sticks_out_of_the_page(page, width):
    page, _ = page
    page.resize(width, 800)
    page.run("new Promise(done => setTimeout(done, 100))")
    assert page.run("document.documentElement.scrollWidth") <= width
    boxes = "[...document.querySelectorAll('svg *')].map(e => e.getBoundingClientRect())"
    assert page.run(f"Math.max(...{boxes}.map(box => box.right))") <= width + 1
    assert page.run(f"Math.min(...{boxes}.map(box => box.left))") >= -1
    page.resize(1280, 900)


@needs_browser
@pytest.mark.parametrize("case", ["one", "unknown", "images", "equal", "long"])
def test_unusual_explanations_open_without_a_problem(tmp_path, case):
    ex = explanation(rows=1150 if case == "long" else 3, outputs=None)
    if case == "one":
        ex = explanation(rows=1, names=("only",), outputs=None, errors=False)
    elif case == "unknown":
        ex = dataclasses.replace(ex, std_error=ex.std_error * np.nan, data=ex.data * np.nan)
    elif case == "images":
        ex = dataclasses.replace(ex, data=np.zeros((3, 8, 8)))
    elif case == "equal":
        ex = dataclasses.replace(
            ex, values=ex.values * 0, std_error=ex.std_error * 0, base_values=ex.base_values * 0
        )
    path = tmp_path / "report.html"
    jaxshap.write_report(ex, path)
    with open_page(path.as_uri(), 390, 800) as page:
        page.run("pick(numRows - 1)")
        names = "['one sensor of them', 'two sensors of them', 'one other of them']"
        alike = page.run(f"toldApart({names}, [80, 200, 80])")
        assert [name[:2] for name in alike] == ["…s", "tw", "…o"]
        if case == "long":
            assert len(page.run(ROWS)) == 100
            page.click("#more-rows")
            assert len(page.run(ROWS)) == 1100
            page.click("#more-rows")
            assert len(page.run(ROWS)) == 1150
            assert page.run("at('more-rows').hidden")
        page.run("document.querySelector('details').open = true")
        # names can be read
        assert page.run("document.querySelector('#numbers td').clientWidth") > 100
        assert page.problems == []
        assert "NaN" not in page.run("document.querySelector('main').innerHTML")
        assert "undefined" not in page.run("document.querySelector('main').innerHTML")


@needs_browser
def test_rows_are_filtered_by_what_their_features_were_and_by_text(page):
    page, ex = page

    def rows(wanted):
        page.run(f"at('filter').value = {json.dumps(wanted)}, drawRows()")
        lines = "[...document.querySelectorAll('#rows tbody tr')].map(line => +line.dataset.row)"
        return sorted(page.run(lines))

    place = ex.feature_names.index("x1")
    assert rows("x1 > 0.5") == np.flatnonzero(ex.data[:, place] > 0.5).tolist()
    assert rows("plain = zero") == list(range(20))
    assert rows("no such text") == []
    assert page.run("at('matching').textContent") == "0 of 20 rows"
    assert rows("") == list(range(20))


@needs_browser
def test_the_values_are_downloaded_as_a_table_that_no_spreadsheet_runs(page):
    page, ex = page
    lines = list(csv.DictReader(io.StringIO(page.run("csv()"))))
    assert len(lines) == ex.values.size
    line = next(line for line in lines if line["row"] == "3" and line["output"] == "<yes>")
    assert float(line["value"]) == pytest.approx(ex.values[3, 0, 1], rel=1e-5)
    assert float(line["std_error"]) == pytest.approx(ex.std_error[3, 0, 1], rel=1e-5)
    assert {line["feature"] for line in lines} == set(ex.feature_names)
    assert {line["feature_value"] for line in lines if line["feature"] == "plain"} == {"zero"}


@needs_browser
def test_the_page_is_dark_where_the_reader_asks_for_it(page):
    page, _ = page
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    assert page.run(paper) == "rgb(255, 255, 255)"
    page.send("Emulation.setEmulatedMedia", features=dark)
    assert page.run(paper) == "rgb(22, 22, 22)"
    strokes = "[...document.querySelectorAll('#strip path')].map((p) => getComputedStyle(p).stroke)"
    brightness = [luminance(re.findall(r"\d+", stroke)) for stroke in page.run(strokes)]
    assert min(brightness) + 0.05 > 3 * (luminance(("22", "22", "22")) + 0.05)  # dots can be seen
    page.send("Emulation.setEmulatedMedia", features=[])


def luminance(channels):
    """Relative luminance as WCAG defines it, of red, green and blue from 0 to 255."""
    parts = np.array(channels, float) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def test_interactions_that_were_asked_for_are_listed():
    rows, background = np.array([[1.0, 2.0, 3.0]]), np.zeros((1, 3))
    explained = jaxshap.explain(
        jaxshap.host(lambda x: x[:, 0] * x[:, 1] + x[:, 2]), rows, background, interactions=2
    )
    page = jaxshap.report.report_html(explained)
    assert "x0 × x1: 2 (standard error 0)" in page
    assert "3 sets, the strongest first" in page
