"""Games as functions of a boolean batch of coalitions, and the estimators of other libraries asked
about them.
"""

import contextlib
import importlib
import io
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas
from jaxtyping import Bool, Float

Values = Float[np.ndarray, "n"]


class KnownGame(NamedTuple):
    name: str
    worths: Callable[[Bool[np.ndarray, "m n"]], Float[np.ndarray, "m"]]
    values: Values


def stored_games(folder: pathlib.Path) -> Iterator[KnownGame]:
    """`games.npz`: tables of 2**n worths, or v(S) = c + Σ_k w_k [A_k ⊆ S][B_k ∩ S = ∅], with their
    values phi.
    """
    archive = np.load(folder / "games.npz")
    for name in map(str, archive["names"]):
        fields = {
            key.split("/", 1)[1]: archive[key]
            for key in archive.files
            if key.startswith(f"{name}/")
        }
        worths = (
            table_worths(fields["v"])
            if "v" in fields
            else _conjunctions(*(fields[key] for key in "ABwc"))
        )
        yield KnownGame(name, worths, fields["phi"])


def table_worths(
    worths: Float[np.ndarray, "size"],
) -> Callable[[Bool[np.ndarray, "m n"]], Float[np.ndarray, "m"]]:
    powers = 2 ** np.arange(len(worths).bit_length() - 1)
    return lambda coalitions: worths[coalitions @ powers]


class CountedGame:
    """Worths of a batch of coalitions, with a count of all that were asked for and a set of the
    distinct ones.
    """

    def __init__(
        self, worths: Callable[[Bool[np.ndarray, "m n"]], Float[np.ndarray, "m"]], num_players: int
    ):
        self.worths, self.num_players = worths, num_players
        self.asked, self.seen = 0, set()

    def __call__(self, coalitions) -> Float[np.ndarray, "m"]:
        batch = np.atleast_2d(np.asarray(coalitions)).astype(bool)
        self.asked += len(batch)
        self.seen.update(row.tobytes() for row in np.packbits(batch, axis=1))
        return self.worths(batch)


class Method(NamedTuple):
    """Shapley values of a counted game for a budget and a seed: values alone, or with standard
    errors.
    """

    name: str
    values: Callable[[CountedGame, int, int], Any]
    most_players: int = 1000  # beyond which one call takes too long for this benchmark


def installed_peers() -> list[Method]:
    """Those whose library can be imported; the others are named on standard error."""
    found, missing = [], set()
    for name, module, function, *most_players in PEERS:
        try:
            library = importlib.import_module(module)
        except ImportError as error:
            missing.add(f"{module} cannot be imported, so its estimators are left out: {error}")
        else:
            found.append(Method(name, _bound(function, library), *most_players))
    print(*sorted(missing), sep="\n", end="\n" if missing else "", file=sys.stderr)
    return found


def shap_kernel(shap, game: CountedGame, budget: int, seed: int) -> Values:
    """Without the selection of ten features that is shap's default; `nsamples` omits ∅ and N."""
    _seed_numpy(seed)
    explainer = shap.KernelExplainer(game, np.zeros((1, game.num_players)), silent=True)
    return explainer.shap_values(
        np.ones(game.num_players), nsamples=budget - 2, l1_reg=False, silent=True
    )


def shap_permutation(shap, game: CountedGame, budget: int, seed: int) -> Values:
    """As many orderings, there and back, as the budget buys when ∅ and N count once, not once an
    ordering.
    """
    n = game.num_players
    explainer = shap.PermutationExplainer(game, np.zeros((1, n)), seed=seed)
    orderings = (budget - 2) // (2 * n - 2)
    return explainer(np.ones((1, n)), max_evals=orderings * (2 * n + 1), silent=True).values[0]


def shap_sampling(shap, game: CountedGame, budget: int, seed: int) -> Values:
    """A sample is a gain and costs two evaluations."""
    _seed_numpy(seed)
    explainer = shap.SamplingExplainer(game, np.zeros((1, game.num_players)))
    return explainer.shap_values(np.ones(game.num_players), nsamples=(budget - 2) // 2, silent=True)


def shapiq_estimator(
    name: str, options: Callable[[float], dict] = lambda multiple: {}
) -> Callable[..., Values]:
    """With the options that were best, in a search on six of the stored games, for this multiple of
    n.
    """

    def values(shapiq, game: CountedGame, budget: int, seed: int) -> Values:
        n = game.num_players
        estimator = getattr(shapiq, name)(n=n, random_state=seed, **options(budget / n))
        return estimator.approximate(budget, game).get_n_order_values(1)

    return values


def shapkit_monte_carlo(shapkit, game: CountedGame, budget: int, seed: int) -> Values:
    """An ordering asks about n coalitions, N among them."""
    orderings = (budget - 2) // (game.num_players - 1)
    row, reference = _ends(game)
    return shapkit.MonteCarloShapley(
        row, _one(game), reference, n_iter=orderings, seed=seed
    ).to_numpy()


def shapkit_sgd(shapkit, game: CountedGame, budget: int, seed: int) -> Values:
    """Constant steps of 0.3/n: larger ones diverge, and its decreasing ones are slower at these
    budgets.
    """
    _seed_numpy(seed)
    row, reference = _ends(game)
    descent = shapkit.SGDshapley(
        game.num_players, C=1.0
    )  # chances depend on D/C alone, which is √n for every C
    options = {"n_iter": budget - 2, "step": 0.3 / game.num_players, "step_type": "constant"}
    return descent.sgd(row, _one(game), reference, **options).to_numpy()


def lightshap_permutation(lightshap, game: CountedGame, budget: int, seed: int) -> Values:
    n = game.num_players
    return _lightshap(
        lightshap, game, "permutation", "sampling", (budget - 2 - 2 * n) // (2 * (n - 3)), seed
    )


def lightshap_kernel(lightshap, game: CountedGame, budget: int, seed: int) -> Values:
    """Sizes 1 and n−1 enumerated, and 2 and n−2 too where that leaves half the budget to draw."""
    n = game.num_players
    left = budget - 2 - 2 * n
    if left - n * (n - 1) >= budget / 2:
        return _lightshap(
            lightshap, game, "kernel", "h2", (left - n * (n - 1)) // (2 * (n - 5)), seed
        )
    return _lightshap(lightshap, game, "kernel", "h1", left // (2 * (n - 3)), seed)


def captum_kernel(captum, game: CountedGame, budget: int, seed: int) -> Values:
    """Its first two samples are ∅ and N."""
    return _captum(captum.KernelShap, game, {"n_samples": budget}, seed)


def captum_sampling(captum, game: CountedGame, budget: int, seed: int) -> Values:
    """A sample is an ordering and asks about n coalitions, N among them."""
    return _captum(
        captum.ShapleyValueSampling,
        game,
        {"n_samples": (budget - 2) // (game.num_players - 1)},
        seed,
    )


def _captum(method, game: CountedGame, options: dict, seed: int) -> Values:
    import torch

    torch.manual_seed(seed)
    _seed_numpy(seed)
    row = torch.ones(1, game.num_players)
    asked = method(
        lambda points: torch.as_tensor(np.asarray(game(points.numpy() > 0.5), np.float64))
    )
    found = asked.attribute(
        row, baselines=0 * row, perturbations_per_eval=game.num_players, **options
    )
    return found.numpy()[0].astype(float)


def _lightshap(
    lightshap, game: CountedGame, method: str, how: str, rounds: int, seed: int
) -> Values:
    row, background = np.ones((1, game.num_players)), np.zeros((1, game.num_players))
    options = {
        "method": method,
        "how": how,
        "max_iter": rounds,
        "tol": 0,
        "random_state": seed,
        "verbose": False,
    }
    return np.asarray(lightshap.explain_any(game, row, background, **options).shap_values).reshape(
        -1
    )


def _conjunctions(inside, outside, weights, constant):
    inside, outside = (np.float32(part).T for part in (inside, outside))
    return lambda s: (
        constant + ((np.float32(~s) @ inside == 0) & (np.float32(s) @ outside == 0)) @ weights
    )


def _bound(function: Callable, library) -> Callable[[CountedGame, int, int], Values]:
    def values(game: CountedGame, budget: int, seed: int) -> Values:
        with contextlib.redirect_stderr(io.StringIO()):  # progress bars, and warnings at every call
            return function(library, game, budget, seed)

    return values


def _seed_numpy(seed: int) -> None:
    """For the libraries that draw from numpy's global state."""
    np.random.seed(seed)  # noqa: NPY002


def _ends(game: CountedGame) -> tuple[pandas.Series, pandas.Series]:
    return pandas.Series(np.ones(game.num_players)), pandas.Series(np.zeros(game.num_players))


def _one(game: CountedGame) -> Callable[[Values], float]:
    return lambda coalition: float(game(coalition)[0])


def _pairs_order_2(multiple: float) -> dict:
    return {"max_order": 2, "pairing_trick": multiple < 40}


def _anchors(multiple: float) -> dict:
    return {"n_anchor_points": 2 if multiple < 8 else 3 if multiple < 40 else 5}


PEERS = [
    ("shap KernelExplainer", "shap", shap_kernel),
    ("shap PermutationExplainer", "shap", shap_permutation),
    ("shap SamplingExplainer", "shap", shap_sampling),
    (
        "shapiq KernelSHAP",
        "shapiq",
        shapiq_estimator("KernelSHAP", lambda multiple: {"pairing_trick": True}),
    ),
    ("shapiq kADDSHAP(2)", "shapiq", shapiq_estimator("kADDSHAP", _pairs_order_2), 30),
    (
        "shapiq kADDSHAP(3)",
        "shapiq",
        shapiq_estimator("kADDSHAP", lambda multiple: {"max_order": 3}),
        16,
    ),
    ("shapiq SVARM", "shapiq", shapiq_estimator("SVARM"), 30),
    ("shapiq OwenSamplingSV", "shapiq", shapiq_estimator("OwenSamplingSV", _anchors)),
    ("shapiq PermutationSamplingSV", "shapiq", shapiq_estimator("PermutationSamplingSV")),
    ("shapkit MonteCarloShapley", "shapkit.monte_carlo_shapley", shapkit_monte_carlo),
    ("shapkit SGDshapley", "shapkit.sgd_shapley", shapkit_sgd),
    ("lightshap kernel", "lightshap", lightshap_kernel),
    ("lightshap permutation", "lightshap", lightshap_permutation),
    ("captum KernelShap", "captum.attr", captum_kernel),
    ("captum ShapleyValueSampling", "captum.attr", captum_sampling),
]
