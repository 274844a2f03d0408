"""How far to believe explanations: additivity, support of the data, redundancy, stability."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import random_table

import jaxshap
from jaxshap.estimators import Estimate
from jaxshap.games import all_coalitions
from jaxshap.trust.additivity import measure_additivity
from jaxshap.trust.pair_samples import sample_pairs
from jaxshap.trust.rankings import run_agreement, stability
from jaxshap.trust.redundancy import diluted

KEY = jax.random.key(0)


def kernel_weights(number):
    sizes = np.asarray(all_coalitions(number)).sum(1)[1:-1]
    binomial = np.array(
        [float(np.prod(np.arange(number - s + 1, number + 1) / np.arange(1, s + 1))) for s in sizes]
    )
    return 1 / (binomial * sizes * (number - sizes))


def by_least_squares(worths, order):
    """Weighted R² of the best fit of this order that meets ∅ and N, by the normal equations."""
    number = len(worths).bit_length() - 1
    members = np.asarray(all_coalitions(number)).astype(float)
    first, second = np.triu_indices(number, 1)
    terms = [members] + ([members[:, first] * members[:, second]] if order == 2 else [])
    design, target = np.concatenate(terms, axis=1), worths - worths[0]
    weights = np.concatenate([[0], kernel_weights(number), [0]])
    gram, right = design.T @ (weights[:, None] * design), design.T @ (weights * target)
    everyone = design[-1]
    bordered = np.block([[gram, everyone[:, None]], [everyone[None], np.zeros((1, 1))]])
    fit = np.linalg.solve(bordered, np.append(right, target[-1]))[:-1]
    left = target - design @ fit
    mean = np.average(target, weights=weights)
    return 1 - (weights @ left**2) / (weights @ (target - mean) ** 2), fit


def measured(game, values, budget, key=KEY):
    sample = sample_pairs(key, game.num_players, budget)
    worths = jaxshap.evaluate(game, sample.coalitions)
    return measure_additivity(sample, np.asarray(worths), np.asarray(game.empty), values)


def exact_values(game):
    values = jaxshap.shapley_values(game)
    return Estimate(values, jnp.zeros_like(values))


class TestAdditivity:
    def test_shares_and_pairs_are_those_of_constrained_least_squares(self):
        worths = random_table(3, 6)
        game = jaxshap.table(jnp.asarray(worths, jnp.float32))
        found = measured(game, exact_values(game), 64)
        one, two = (by_least_squares(worths, order) for order in (1, 2))
        np.testing.assert_allclose(found.additive.overall, one[0], atol=1e-5)
        np.testing.assert_allclose(found.pairwise.overall, two[0], atol=1e-5)
        first, second = np.triu_indices(6, 1)
        pairs = two[1][6:]
        strongest = np.argsort(-np.abs(pairs))[:5]
        np.testing.assert_array_equal(found.pairs, np.stack([first, second], axis=1)[strongest])
        np.testing.assert_allclose(found.interactions.values, pairs[strongest], atol=1e-4)
        assert not np.asarray(found.interactions.std_error).any()

    @pytest.mark.parametrize("number", [5, 14])
    def test_each_kind_of_game_gets_its_verdict(self, number):
        rng = np.random.default_rng(number)
        weights = jnp.asarray(rng.normal(size=number), jnp.float32)

        def game_of(extra):
            return jaxshap.make_game(
                lambda s: weights @ s.astype(jnp.float32) + extra(s.astype(jnp.float32)), number
            )

        games = {
            "additive": game_of(lambda s: jnp.zeros(())),
            "pairwise": game_of(lambda s: 6 * s[0] * s[1]),
            "beyond": game_of(lambda s: 30 * s[0] * s[1] * s[2]),
        }
        for verdict, game in games.items():
            values = Estimate(*jaxshap.estimate(1, game, budget=400))
            assert measured(game, values, 400).verdict == verdict

    def test_a_sample_finds_the_shares_of_the_whole_within_its_errors(self):
        """16 keys, four standard errors: false alarms about 1 in 1,000."""
        worths = jnp.asarray(random_table(1, 12), jnp.float32)
        sizes = all_coalitions(12).sum(1)
        game = jaxshap.table(worths * 0.2 + sizes.astype(jnp.float32))
        values = exact_values(game)
        whole = measured(game, values, 2**12)
        gaps = []
        for key in range(16):
            part = measured(game, values, 400, jax.random.key(key))
            gaps.append(
                (part.additive.overall - whole.additive.overall) / part.additive.overall_error
            )
        assert np.abs(gaps).max() < 4
        assert abs(np.mean(gaps)) < 1  # four standard errors of a mean of 16

    def test_what_stands_behind_the_sign_is_half_of_a_95_percent_interval(
        self,
    ):
        game = jaxshap.table(jnp.asarray(random_table(1, 12), jnp.float32))
        share = measured(game, exact_values(game), 400).additive
        value, half = (float(part) for part in str(share).removesuffix(" %").split(" ± "))
        np.testing.assert_allclose(value, 100 * share.overall, atol=0.051)
        np.testing.assert_allclose(half, 196 * share.overall_error, atol=0.051)
        assert "±" not in str(measured(game, exact_values(game), 2**12).additive)

    def test_noise_is_not_explained_by_pairs(self):
        """A game of independent worths: the pairs that a sample fits predict nothing else."""
        game = jaxshap.table(jnp.asarray(np.random.default_rng(0).normal(size=2**12), jnp.float32))
        found = measured(game, exact_values(game), 300)
        assert found.pairwise.overall < found.additive.overall + 4 * found.additive.overall_error

    def test_many_players_take_the_dual_road_to_the_same_answer(self):
        """With fewer pairs of coalitions than of players the regression is solved in its dual."""
        number = 24
        weights = jnp.zeros(number).at[0].set(1)

        def worth(coalition):
            s = coalition.astype(jnp.float32)
            return weights @ s + 8 * s[2] * s[5] - 5 * s[7] * s[9]

        values = weights.at[jnp.array([2, 5, 7, 9])].set(jnp.array([4, 4, -2.5, -2.5]))
        found = measured(jaxshap.make_game(worth, number), Estimate(values, jnp.zeros(number)), 400)
        assert found.pairs[:2].tolist() == [[2, 5], [7, 9]]
        assert found.pairwise.overall > found.additive.overall + 0.1

    def test_errors_of_the_values_do_not_count_against_the_game(self):
        """An additive game with noisy values is additive once their standard errors are known."""
        number, size = 14, 0.8
        game = jaxshap.make_game(lambda s: s.astype(jnp.float32).sum(), number)
        noise = np.random.default_rng(0).normal(size=number) * size
        values = jnp.asarray(1 + noise - noise.mean(), jnp.float32)
        blind = measured(game, Estimate(values, jnp.zeros(number)), 600).additive.overall
        aware = measured(game, Estimate(values, jnp.full(number, size)), 600).additive.overall
        assert blind < 0.97
        assert abs(1 - aware) < (1 - blind) / 2


class TestDiagnose:
    def test_it_reads_in_a_few_lines_with_the_verdict_first(self):
        rng = np.random.default_rng(0)
        X, background = rng.normal(size=(4, 5)), rng.normal(size=(40, 5))
        background[:, 1] = background[:, 0]
        ex = jaxshap.explain(
            lambda rows: rows[:, 0] + rows[:, 1] + 5 * rows[:, 2] * rows[:, 3], X, background
        )
        found = ex.diagnose()
        lines = repr(found).splitlines()
        assert lines[0] == found.verdict
        assert found.verdict.startswith("pairwise: values explain")
        assert "x2 × x3" in lines[1]
        assert "the top 3 are certain at 95 % in 4 of 4" in lines[2]
        assert lines[3].startswith("Off-manifold")
        assert any(line.startswith("Diluted: x0 and x1") for line in lines)

    def test_findings_are_records_and_the_text_is_made_from_them(self):
        rng = np.random.default_rng(0)
        X, background = rng.normal(size=(4, 5)), rng.normal(size=(40, 5))
        background[:, 1] = background[:, 0]
        ex = jaxshap.explain(
            lambda rows: rows[:, 0] + rows[:, 1] + 5 * rows[:, 2] * rows[:, 3], X, background
        )
        diagnosis = ex.diagnose()
        findings = diagnosis.findings()
        topics = ["additivity", "pairs", "ranking", "off-manifold", "dilution"]
        assert [finding.topic for finding in findings] == topics
        verdicts = {finding.topic: finding.verdict for finding in findings}
        assert verdicts["additivity"] == diagnosis.additivity.verdict == "pairwise"
        assert verdicts["pairs"] == "x2 × x3"
        assert verdicts["ranking"] == "4 of 4"
        assert verdicts["off-manifold"] == f"{100 * diagnosis.off_manifold.overall:.3g} %"
        assert verdicts["dilution"] == "x0 and x1"
        *lines, cost = repr(diagnosis).splitlines()
        assert (
            cost == f"Judged by {diagnosis.num_evaluations:,} coalitions that were evaluated anew."
        )
        assert len(lines) == len(findings)
        assert all(
            line.endswith(f": {one.text}") for line, one in zip(lines, findings, strict=True)
        )
        additive = jaxshap.explain(lambda rows: rows.sum(1), X, background[:5]).diagnose()
        assert [finding.topic for finding in additive.findings()] == ["additivity", "ranking"]

    def test_a_budget_that_buys_too_few_pairs_names_what_is_needed(self):
        with pytest.raises(jaxshap.BudgetError, match="pass 16 or more") as refused:
            sample_pairs(KEY, 10, 15)
        assert refused.value.needed == 16
        with pytest.raises(jaxshap.BudgetError, match="pass 14 or more"):
            sample_pairs(KEY, 4, 13)

    def test_rows_and_outputs_can_be_picked_first(self):
        rng = np.random.default_rng(1)
        X, background = rng.normal(size=(3, 4)), rng.normal(size=(30, 4))

        def model(rows):
            return jnp.stack([rows[:, 0] * rows[:, 1], rows.sum(1), rows[:, 2] ** 2], axis=1)

        ex = jaxshap.explain(model, X, background)
        whole = ex.diagnose()
        assert whole.additivity.additive.values.shape == (3, 3)
        part = ex[1, :, 0].diagnose()
        np.testing.assert_allclose(
            part.additivity.additive.overall, whole.additivity.additive.values[1, 0], rtol=1e-5
        )
        twice = ex[:, :, [2, 0]][[1, 2], :, 1].diagnose()
        np.testing.assert_allclose(
            twice.additivity.additive.values, whole.additivity.additive.values[1:, 0], rtol=1e-5
        )

    def test_trees_are_diagnosed_by_their_margin(self):
        from sklearn.ensemble import GradientBoostingRegressor

        rng = np.random.default_rng(2)
        X = rng.normal(size=(60, 4))
        model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(
            X, X[:, 0] + 3 * X[:, 1] * X[:, 2]
        )
        ex = jaxshap.explain(model, X[:5], X)
        game = jaxshap.marginal(jaxshap.host(model.predict), X[:5], X)
        values = Estimate(jnp.moveaxis(ex.values, 1, 0), jnp.moveaxis(ex.std_error, 1, 0))
        expected = measured(game, values, 2**4)
        found = ex.diagnose().additivity
        np.testing.assert_allclose(found.additive.overall, expected.additive.overall, atol=1e-4)

    def test_missing_values_are_diagnosed_without_distances(self):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(40, 3)).astype(np.float32)
        rows = np.column_stack([rows, rows[:, 0], np.full(40, np.nan, np.float32)])
        rows[::7, 1] = rows[::9, 3] = np.nan
        ex = jaxshap.explain(lambda x: jnp.nan_to_num(x[:, :4]).sum(1), rows[:5], rows)
        found = ex.diagnose(budget=32)
        assert found.off_manifold is None
        assert found.additivity.verdict == "additive"
        assert [one.features for one in found.diluted] == [("x0", "x3")]
        with pytest.raises(ValueError, match="missing values"):
            jaxshap.trust.off_manifold_share(rows[:5], rows)

    def test_groups_and_separate_draws_and_host_models_are_diagnosed_too(self):
        rng = np.random.default_rng(3)
        X, background = rng.normal(size=(2, 6)), rng.normal(size=(25, 6))
        model = jaxshap.host(lambda rows: np.asarray(rows).sum(1))
        options = [
            {"groups": {"a": [0, 1], "b": [2, 3]}},
            {"separate_draws": True, "budget": 40},
            {},
        ]
        for option in options:
            ex = jaxshap.explain(model, X, background, **option)
            assert ex.diagnose().additivity.verdict == "additive"

    def test_without_a_model_it_says_what_to_do(self, tmp_path):
        rng = np.random.default_rng(4)
        ex = jaxshap.explain(
            lambda rows: rows.sum(1), rng.normal(size=(2, 3)), rng.normal(size=(5, 3))
        )
        ex.save(tmp_path / "ex.npz")
        loaded, unpickled = jaxshap.load(tmp_path / "ex.npz"), pickle.loads(pickle.dumps(ex))
        for other in (loaded, ex[:, "x1"], unpickled):
            with pytest.raises(ValueError, match="diagnose the result of explain"):
                other.diagnose()


class TestOffManifold:
    def test_mixtures_of_what_goes_together_are_outside_and_independent_features_stay_inside(self):
        rng = np.random.default_rng(0)
        one = rng.normal(size=(400, 1))
        together = np.concatenate(
            [one, one + 0.01 * rng.normal(size=(400, 1)), rng.normal(size=(400, 1))], axis=1
        )
        apart = rng.normal(size=(400, 3))
        found = jaxshap.trust.off_manifold_share(together[:20], together, num_orderings=32)
        assert found.by_row.shape == (20,)
        assert found.by_feature.shape == (20, 3)
        assert found.overall > 0.4
        assert found.by_feature.mean(0)[2] < found.by_feature.mean(0)[:2].min()
        assert jaxshap.trust.off_manifold_share(apart[:20], apart, num_orderings=32).overall < 0.1

    @pytest.mark.parametrize(("features", "rows"), [(3, 60), (30, 100), (10, 500)])
    def test_new_rows_of_independent_features_are_outside_no_more_often_than_said(
        self, features, rows
    ):
        """Their mixtures look like them; 5 % and four standard errors of the mean over 60 rows."""
        rng = np.random.default_rng(features)
        data, new = rng.normal(size=(rows, features)), rng.normal(size=(60, features))
        found = jaxshap.trust.off_manifold_share(new, data, num_orderings=16)
        assert found.overall < found.expected + 4 * found.by_row.std() / np.sqrt(60)

    def test_the_share_is_that_of_all_mixtures(self):
        """By enumeration with the weights of Shapley gains; four standard errors, 3 + 9 numbers."""
        rng = np.random.default_rng(1)
        data = rng.normal(size=(30, 3)) @ np.array([[1, 0.95, 0.3], [0, 0.3, 0.2], [0, 0, 0.8]])
        rows = data[:3]

        def score(points):
            return -jnp.abs(points[:, 0] - points[:, 1])

        found = jaxshap.trust.off_manifold_share(rows, data, score=score, num_orderings=2000)
        lowest = np.quantile(np.asarray(score(data)), 0.05)
        members = np.asarray(all_coalitions(3))
        points = np.where(members[:, None, None], rows[:, None], data)
        outside = np.abs(points[..., 0] - points[..., 1]) > -lowest  # coalitions, rows, background
        sizes = members.sum(1)
        inner = np.stack([outside[sizes == size].mean((0, 2)) for size in (1, 2)]).mean(0)
        np.testing.assert_array_less(np.abs(found.by_row - inner), 4 * found.by_row_error + 1e-9)
        for player in range(3):
            without = np.flatnonzero(~members[:, player])
            either = (outside[without] | outside[without | 1 << player]).mean(2)
            weights = np.array([1 / 3, 1 / 6, 1 / 3])[sizes[without]]
            gap = np.abs(found.by_feature[:, player] - weights @ either)
            np.testing.assert_array_less(gap, 4 * found.by_feature_error[:, player] + 1e-9)

    def test_groups_of_columns_move_as_one(self):
        one = np.random.default_rng(2).normal(size=(200, 1))
        data = np.concatenate([one, one, np.random.default_rng(3).normal(size=(200, 1))], axis=1)
        assert jaxshap.trust.off_manifold_share(data[:100], data).overall > 0.3
        assert (
            jaxshap.trust.off_manifold_share(data[:100], data, groups=[[0, 1], [2]]).overall < 0.1
        )

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"inside": 0.0}, "inside=0.0: pass a number above 0"),
            ({"neighbours": 50}, "from 1 to 24, four fifths of the 30 rows"),
            ({"num_orderings": 1}, "2 or more"),
            ({"score": lambda points: points}, "one number a row"),
        ],
    )
    def test_bad_options_are_named(self, options, says):
        data = np.random.default_rng(0).normal(size=(30, 2))
        with pytest.raises(ValueError, match=says):
            jaxshap.trust.off_manifold_share(data[:2], data, **options)


class TestRedundancy:
    def test_a_duplicated_feature_is_found_and_its_group_gets_what_the_feature_had(self):
        """The model splits the weight of a duplicated feature: neither copy looks important."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 3))
        doubled = np.column_stack([X, X[:, 0]])
        weights = jnp.asarray([1.0, 0.8, 0.1, 1.0])
        ex = jaxshap.explain(
            lambda rows: rows @ weights, doubled[:50], doubled, feature_names=list("abcd")
        )
        (found,) = diluted(ex.values, doubled, ex.feature_names)
        assert found.features == ("a", "d")
        np.testing.assert_allclose(found.together, 2 * found.alone, rtol=1e-4)
        assert found.rank_together == 1
        assert "groups={'a+d': ['a', 'd']}" in str(found)
        grouped = jaxshap.explain(
            lambda rows: rows @ weights,
            doubled[:50],
            doubled,
            feature_names=list("abcd"),
            groups={"a+d": ["a", "d"]},
        )
        np.testing.assert_allclose(
            np.abs(grouped[:, "a+d"].values).mean(), found.together, rtol=1e-4
        )

    def test_a_copy_that_the_model_ignores_dilutes_nothing(self):
        X = np.random.default_rng(0).normal(size=(100, 2))
        doubled = np.column_stack([X, X[:, 0]])
        ex = jaxshap.explain(lambda rows: rows[:, 0] + rows[:, 1], doubled[:10], doubled)
        assert diluted(ex.values, doubled, ex.feature_names) == []

    def test_chains_are_not_groups_and_constants_belong_to_none(self):
        """Any two of a group go together: b with a and b with c does not put a and c together."""
        rng = np.random.default_rng(0)
        a, c = rng.normal(size=(2, 2000))
        data = np.column_stack([a, a + c, c, np.ones(2000)])
        assert jaxshap.trust.redundant_features(data, least=0.6) in ([[0, 1]], [[1, 2]])
        assert jaxshap.trust.redundant_features(data, least=0.9) == []


class TestStability:
    def test_zero_errors_make_everything_certain_and_unknown_ones_nothing(self):
        values = np.random.default_rng(0).normal(size=(3, 6))
        found = stability(values, np.zeros((3, 6)))
        assert found.certain.all()
        np.testing.assert_array_equal(found.order, 1)
        np.testing.assert_array_equal(found.signs, 1)
        assert not stability(values, np.full((3, 6), np.nan)).certain.any()

    def test_certain_means_wrong_in_at_most_five_of_a_hundred(self):
        """2,000 noisy copies of 20 profiles: where called certain, the top 3 are the true ones."""
        rng = np.random.default_rng(1)
        truth = rng.normal(size=(20, 1, 8))
        noisy = truth + 0.03 * rng.normal(size=(20, 2000, 8))
        judged = stability(noisy.reshape(-1, 8), np.full((40_000, 8), 0.03))
        certain = judged.certain.reshape(20, 2000)
        largest = [
            np.sort(np.argsort(-np.abs(part), axis=-1)[..., :3], axis=-1) for part in (truth, noisy)
        ]
        wrong = (largest[0] != largest[1]).any(-1) & certain
        assert certain.mean() > 0.2
        assert wrong.mean(1).max() < 0.05

    def test_predicted_agreement_is_that_of_repeated_keys(self):
        """Signs and order that standard errors promise, and those of 60 keys; within 3 of 100."""
        game = jaxshap.table(jnp.asarray(random_table(2, 8), jnp.float32))
        truth = np.asarray(jaxshap.shapley_values(game))[None]
        runs = [jaxshap.estimate(key, game, jaxshap.Permutation(), 64) for key in range(60)]
        values = [np.asarray(run.values)[None] for run in runs]
        error = np.std(values, axis=0)
        predicted = stability(truth, error)
        signs = np.mean([np.sign(run) == np.sign(truth) for run in values])
        first, second = np.triu_indices(8, 1)
        order = [np.sign(np.abs(r)[0, first] - np.abs(r)[0, second]) for r in (*values, truth)]
        alike = np.mean([one == order[-1] for one in order[:-1]])
        assert abs(predicted.signs.mean() - signs) < 0.03
        assert abs(predicted.order.mean() - alike) < 0.03

    def test_many_features_are_compared_in_blocks_of_rows(self, monkeypatch):
        rng = np.random.default_rng(4)
        values, errors = rng.normal(size=(7, 5, 3)), rng.random(size=(7, 5, 3)) / 5
        whole = stability(values, errors)
        monkeypatch.setattr("jaxshap.trust.rankings.MAX_PAIRS", 100)
        for one, other in zip(whole[2:], stability(values, errors)[2:], strict=True):
            assert one.shape == (7, 3)
            np.testing.assert_allclose(one, other, rtol=1e-12)  # sums of blocks may round otherwise

    def test_runs_agree_with_themselves_and_less_with_others(self):
        rng = np.random.default_rng(3)
        run = rng.normal(size=(5, 7, 2))
        same = run_agreement([run, run])
        assert (same.kendall, same.signs, same.top) == (1, 1, 1)
        other = run_agreement([run, rng.normal(size=(5, 7, 2)), run])
        assert other.kendall < 0.7
        assert 0.3 < other.signs < 0.95
        with pytest.raises(ValueError, match="two or more"):
            run_agreement([run])
        with pytest.raises(ValueError, match="from 1 to 6"):
            stability(run, run, top=7)
