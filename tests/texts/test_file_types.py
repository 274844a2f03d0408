"""A network with trained weights on the host: magika, in examples/, and explanations of bytes."""

import importlib.util
import pathlib

import numpy as np
import pytest

import jaxshap

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
NEEDED = ("magika", "onnxruntime")
pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in NEEDED),
    reason='needs pip install "jaxshap[magika]"',
)
PYTHON = b"import csv\nrows = list(csv.reader(open('prices.csv')))\nprint(len(rows))\n"
LONG = b"  # a long file\n" + b"".join(b"x%d = %d\n" % (i, i * i) for i in range(400)) + b"\n"


@pytest.fixture(scope="module")
def file_types():
    spec = importlib.util.spec_from_file_location("file_types", EXAMPLES / "file_types.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def loaded(file_types):
    return file_types.load()


@pytest.mark.parametrize("content", [PYTHON, LONG, b"<html><body>Hello</body></html>"])
def test_the_network_reads_files_as_its_package_does(file_types, loaded, content):
    import magika

    network, labels = loaded
    (probabilities,) = network(file_types.tokens(content)[None])
    prediction = magika.Magika().identify_bytes(content).prediction
    assert labels[probabilities.argmax()] == str(prediction.dl.label)
    np.testing.assert_allclose(probabilities.max(), prediction.score, atol=1e-5)


def test_bytes_of_a_player_come_and_go_at_both_ends_and_nobody_owns_padding(file_types):
    players = file_types.players(PYTHON)
    tokens, owner = file_types.tokens(PYTHON), players.owner
    assert ((owner == -1) == ((tokens == 256) | np.isin(tokens, [10, 32]))).all()
    for number, word in enumerate(PYTHON.split()):
        assert bytes(tokens[owner == number].tolist()) == 2 * word


def test_the_middle_of_a_long_file_which_is_not_read_has_no_players(file_types):
    names = file_types.players(LONG, rb"[^\n]+").names
    assert any(name.startswith("x0 ") for name in names)
    assert any(name.startswith("x399 ") for name in names)
    assert not any(name.startswith("x200 ") for name in names)


def test_a_file_without_its_players_is_padding_and_values_share_out_the_rest(file_types, loaded):
    network, labels = loaded
    explained = file_types.explain(PYTHON)
    python = labels.index("python")
    assert explained.row_outputs.tolist() == [["python"]]
    tokens = file_types.tokens(PYTHON)
    rest = np.where(file_types.players(PYTHON).owner < 0, tokens, 256)
    ends = network(np.stack([rest, tokens]))[:, python]
    # this network's answers differ by 1e-3 from one size of batch to another
    np.testing.assert_allclose(explained.base_values, [[ends[0]]], atol=2e-3)
    total = explained.values.sum() + explained.base_values.sum()
    np.testing.assert_allclose(total, ends[1], atol=2e-3)
    assert explained.feature_names[explained.values[0, :, 0].argmax()].startswith("import")
    assert isinstance(explained, jaxshap.Explanation)
