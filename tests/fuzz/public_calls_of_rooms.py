"""Every public function of the rooms, with arguments that work."""

import functools

import numpy as np
from public_calls import (
    ALE,
    BACKGROUND,
    DECOMPOSITION,
    DIAGNOSIS,
    DISPARITY,
    ESTIMATE,
    EXPLAINED,
    GAME,
    GRAPH,
    HIERARCHY,
    HOST_GAME,
    ICE,
    INTERACTIONS,
    MODEL,
    NAMES,
    OF_CLASSES,
    PDP,
    POSTERIOR,
    ROWS,
    RUN,
    SAMPLED,
    SAMPLES,
    STABILITY,
    STEPS,
    TABLES,
    TEXTS,
    TREE,
    TREES,
    WALKS,
    Call,
    call,
    component,
    fair,
    rewards,
    score_texts,
    selected,
)

import jaxshap
from jaxshap import (
    causal,
    effects,
    gradients,
    hierarchies,
    interactions,
    lime,
    plots,
    residuals,
    texts,
    theory,
    trees,
    trust,
)
from jaxshap import rewards as of_rewards


def smooth(rows):
    return rows[:, 0] * rows[:, 1] + rows.sum(1)


def winter(root):
    return jaxshap.estimate(0, GAME, hierarchies.Winter(hierarchies.hierarchy(root)), 8)


def of_texts(absent, **options):
    return texts.explain_texts(score_texts, ["not good"], absent=absent, **options)


STRUCTURAL = causal.StructuralModel(
    {"x0": ((), lambda noise: noise), "x1": (("x0",), lambda noise, cause: cause + noise)}
)
MANY_EXPLAINED = jaxshap.explain(MODEL, BACKGROUND, BACKGROUND, progress=False)
ADDING_UP = interactions.exact_interactions(GAME, "k-SII")
ADDITIVE = effects.additive_model(BACKGROUND, BACKGROUND[:, 0], max_rounds=1)
GRIDS = {"grids": None, "grid_resolution": 4, "percentiles": (0.05, 0.95), "categorical": ()}
NAMED = {"feature_names": NAMES, "output_names": None, "batch_size": "auto"}
TEXT = {"tokenizer": None, "players": texts.words, "absent": texts.Removed(), "max_length": None}
HOW = {"estimator": jaxshap.Exact(), "budget": None, "key": 0}
DRAWN = {"ax": None}
WITH_AXES = {"max_display": 3, "ax": None}

CALLS_OF_ROOMS: dict[str, Call] = {
    "causal.direct_effect": call(
        causal.direct_effect,
        model=MODEL,
        X=BACKGROUND,
        features=0,
        at=1.0,
        reference=0.0,
        graph=None,
        feature_names=NAMES,
    ),
    "causal.adjusted_mean": call(
        causal.adjusted_mean,
        model=MODEL,
        X=BACKGROUND,
        treatment=0,
        at=[0.0, 1.0],
        graph=None,
        outcome=None,
        feature_names=NAMES,
    ),
    "a structural model": call(causal.StructuralModel, mechanisms=STRUCTURAL.mechanisms),
    "StructuralModel.sample": call(STRUCTURAL.sample, key=0, num_samples=4, do={"x0": 1.0}),
    "causal.disparity": call(
        causal.disparity, explanation=EXPLAINED, groups=["a", "b"], reference="a"
    ),
    "causal.fair_predictor": call(
        causal.fair_predictor,
        model=MODEL,
        background=BACKGROUND,
        protected=[1],
        feature_names=NAMES,
    ),
    "a fair predictor": call(fair, rows=ROWS),
    "causal.d_separated": call(causal.d_separated, graph=GRAPH, a="x0", b="x2", given="x1"),
    "causal.identifies_direct_effect": call(
        causal.identifies_direct_effect, graph=GRAPH, features="x0", others=None
    ),
    "causal.parent_adjustment": call(causal.parent_adjustment, graph=GRAPH, treatment="x1"),
    "causal.satisfies_backdoor": call(
        causal.satisfies_backdoor, graph=GRAPH, treatment="x1", outcome="x2", adjustment="x0"
    ),
    "effects.additive_model": call(
        effects.additive_model,
        X=BACKGROUND,
        y=BACKGROUND[:, 0],
        smoother=None,
        max_rounds=2,
        tolerance=0.01,
        feature_names=NAMES,
    ),
    "AdditiveModel.predict": call(ADDITIVE.predict, rows=ROWS),
    "AdditiveModel.contributions": call(ADDITIVE.contributions, rows=ROWS),
    "effects.smoothing_spline": call(
        effects.smoothing_spline, x=BACKGROUND[:, 0], y=BACKGROUND[:, 1], penalty=None
    ),
    "effects.marginal_means": call(
        effects.marginal_means,
        model=MODEL,
        X=BACKGROUND,
        features=0,
        bins=2,
        categorical=(),
        weights=None,
        feature_names=NAMES,
        output_names=None,
    ),
    "effects.pdp": call(
        effects.pdp,
        model=MODEL,
        X=BACKGROUND,
        features=0,
        inside=None,
        score=None,
        neighbours=2,
        weights=None,
        **GRIDS,
        **NAMED,
    ),
    "effects.ice": call(
        effects.ice,
        model=MODEL,
        X=BACKGROUND,
        features=0,
        centred=False,
        weights=None,
        **GRIDS,
        **NAMED,
    ),
    "effects.ale": call(
        effects.ale,
        model=MODEL,
        X=BACKGROUND,
        features=0,
        bins=2,
        grids=None,
        categorical=(),
        derivative=False,
        **NAMED,
    ),
    "gradients.expected_gradients": call(
        gradients.expected_gradients,
        model=smooth,
        X=ROWS,
        background=BACKGROUND,
        budget=8,
        key=0,
        groups=None,
        feature_names=NAMES,
        output_names=None,
    ),
    "gradients.integrated_gradients": call(
        gradients.integrated_gradients,
        model=smooth,
        X=ROWS,
        background=BACKGROUND[:1],
        tol=0.01,
        max_nodes=64,
        groups=None,
        feature_names=NAMES,
        output_names=None,
    ),
    "hierarchies.hierarchy": call(hierarchies.hierarchy, groups=[[0, 1], 2]),
    "hierarchies.hierarchy_of_blocks": call(hierarchies.hierarchy_of_blocks, shape=(2, 3)),
    "hierarchies.hierarchy_of_labels": Call(
        lambda labels: hierarchies.hierarchy_of_labels(labels), {"labels": [0, 0, 1]}
    ),
    "hierarchies.hierarchy_of_linkage": call(
        hierarchies.hierarchy_of_linkage, linkage=[[0, 1, 0.5, 2], [3, 2, 1.0, 3]]
    ),
    "hierarchies.Winter": call(winter, root=[[0, 1], 2]),
    "hierarchies.top_down": call(
        hierarchies.top_down,
        key=0,
        game=GAME,
        hierarchy=HIERARCHY,
        budget=16,
        draws=2,
        names=["a", "b", "c"],
        batch_size="auto",
    ),
    "interactions.aggregated": call(interactions.aggregated, interactions=INTERACTIONS),
    "interactions.exact_interactions": call(
        interactions.exact_interactions, game=GAME, index="SII", order=2
    ),
    "interactions.estimate_interactions": call(interactions.estimate_interactions, **WALKS, **RUN),
    "interactions.decompose": call(interactions.decompose, game=GAME, order=2),
    "interactions.component": call(
        interactions.component,
        model=MODEL,
        background=BACKGROUND,
        features=[0, 2],
        feature_names=NAMES,
    ),
    "a component": call(component, at=ROWS[:, :2]),
    "Interactions.pick": Call(lambda index: INTERACTIONS[index], {"index": (0, 1)}),
    "Interactions.error_of": call(INTERACTIONS.error_of, players=(0, 1)),
    "Decomposition.pick": Call(lambda index: DECOMPOSITION[index], {"index": (0, 1)}),
    "Decomposition.partial_dependence": call(DECOMPOSITION.partial_dependence, players=(0, 1)),
    "Decomposition.against_the_rest": call(DECOMPOSITION.against_the_rest, players=(0, 1)),
    "lime.local_surrogate": call(
        lime.local_surrogate, **TABLES, **SAMPLES, kernel_width=None, feature_names=NAMES
    ),
    "lime.width_stability": call(
        lime.width_stability, **TABLES, **SAMPLES, widths=[0.5, 1.0], feature_names=NAMES
    ),
    "lime.player_surrogate": call(
        lime.player_surrogate,
        key=0,
        game=GAME,
        num_samples=20,
        kernel_width=None,
        ridge=1.0,
        selection=None,
    ),
    "lime.ForwardSelection": Call(
        functools.partial(selected, lime.ForwardSelection), {"num_features": 2}
    ),
    "lime.LassoPath": Call(functools.partial(selected, lime.LassoPath), {"num_features": 2}),
    "neyman_allocation": call(jaxshap.engine.neyman_allocation, **WALKS),
    "residuals.edge_norms": call(
        residuals.edge_norms, key=0, game=GAME, budget=40, draws_per_entry=2, **RUN
    ),
    "residuals.flows": call(residuals.flows, game=GAME),
    "residuals.norms": call(residuals.norms, game=GAME, players=[[0], [1, 2]]),
    "residuals.shares": call(residuals.shares, game=GAME, players=[[0], [1, 2]]),
    "residuals.estimate_norms": call(residuals.estimate_norms, **WALKS, **RUN),
    "residuals.estimate_shares": call(residuals.estimate_shares, **WALKS, **RUN),
    "rewards.agreement": rewards(of_rewards.agreement, classes=[0, 1]),
    "rewards.class_probability": rewards(
        of_rewards.class_probability, classes=[0, 1], logits=False
    ),
    "rewards.class_rank": rewards(of_rewards.class_rank, classes=[0, 1]),
    "rewards.log_odds": rewards(of_rewards.log_odds, classes=[0, 1], logits=False),
    "rewards.loss": rewards(of_rewards.loss, labels=[0, 1], kind="cross_entropy", logits=False),
    "rewards.averaged": call(of_rewards.averaged, game=HOST_GAME, weights=[1.0, 2.0]),
    "rewards.reward": call(of_rewards.reward, game=HOST_GAME, function=np.tanh, name="tanh"),
    "texts.explain_texts": call(
        texts.explain_texts,
        model=score_texts,
        texts=["not good"],
        tol=None,
        output_names=None,
        **TEXT,
        **HOW,
        **RUN,
    ),
    "texts.text_game": call(texts.text_game, model=score_texts, text="not good", **TEXT),
    "texts.matches": Call(
        lambda pattern: of_texts(texts.Removed(), players=texts.matches(pattern)),
        {"pattern": "[a-z]+"},
    ),
    "texts.Replaced": Call(lambda by: of_texts(texts.Replaced(by)), {"by": "…"}),
    "texts.sentences": call(texts.sentences, text="Not good. Bad."),
    "texts.words": call(texts.words, text="not good"),
    "texts.as_html": call(texts.as_html, explanation=TEXTS[0]),
    "picked texts": Call(lambda index: TEXTS[index], {"index": 0}),
    "theory.condition": call(theory.condition, **STEPS),
    "theory.gradient_bound": call(theory.gradient_bound, **STEPS),
    "theory.constant_step_bound": call(
        theory.constant_step_bound, num_steps=10, step=0.01, **STEPS
    ),
    "theory.inverse_step_bound": call(theory.inverse_step_bound, num_steps=10, **STEPS),
    "theory.root_step_bound": call(theory.root_step_bound, num_steps=10, **STEPS),
    "theory.check_step": call(theory.check_step, step=0.01, num_players=3),
    "theory.gram_matrix": call(theory.gram_matrix, num_players=3),
    "theory.spectrum": call(theory.spectrum, num_players=3),
    "theory.strong_convexity": call(theory.strong_convexity, num_players=3),
    "theory.chebyshev": call(theory.chebyshev, epsilon=0.1, variance=1.0, num_draws=10),
    "theory.chebyshev_draws": call(theory.chebyshev_draws, epsilon=0.1, delta=0.05, variance=1.0),
    "theory.deviation": call(theory.deviation, epsilon=0.1, expected=1.0),
    "theory.markov": call(theory.markov, epsilon=0.1, expected=1.0),
    "theory.inverse_steps": call(theory.inverse_steps, epsilon=0.1, delta=0.05, **STEPS),
    "theory.root_steps": call(theory.root_steps, epsilon=0.1, delta=0.05, **STEPS),
    "trees.read_trees": call(trees.read_trees, model=TREE),
    "trees.is_tree_model": call(trees.is_tree_model, model=TREE),
    "trees.check_reading": call(trees.check_reading, ensemble=TREES, model=TREE, rows=ROWS),
    "trees.interventional": call(
        trees.interventional, ensemble=TREES, rows=ROWS, background=BACKGROUND, weights=None
    ),
    "trees.interventional_interactions": call(
        trees.interventional_interactions,
        ensemble=TREES,
        rows=ROWS,
        background=BACKGROUND,
        weights=None,
    ),
    "trees.base_margin": call(trees.base_margin, ensemble=TREES),
    "trees.path_dependent": call(trees.path_dependent, ensemble=TREES, rows=ROWS),
    "trees.path_dependent_game": call(trees.path_dependent_game, ensemble=TREES, rows=ROWS),
    "trees.path_dependent_interactions": call(
        trees.path_dependent_interactions, ensemble=TREES, rows=ROWS
    ),
    "trust.bayes_shap": call(trust.bayes_shap, key=0, game=GAME, budget=8),
    "BayesPosterior.interval": call(POSTERIOR.interval, level=0.9),
    "BayesPosterior.draw": call(POSTERIOR.draw, key=0, count=2),
    "BayesPosterior.more_evaluations": call(POSTERIOR.more_evaluations, width=0.1, level=0.9),
    "trust.interval": call(trust.interval, estimate=ESTIMATE, level=0.9, degrees=None),
    "trust.quantile": call(trust.quantile, level=0.9, degrees=5.0),
    "trust.off_manifold_share": call(
        trust.off_manifold_share,
        X=ROWS,
        background=BACKGROUND,
        data=None,
        score=None,
        inside=0.9,
        neighbours=2,
        groups=None,
        num_orderings=4,
        key=0,
    ),
    "trust.run_agreement": call(
        trust.run_agreement, runs=[EXPLAINED.values, SAMPLED.values], top=2
    ),
    "trust.stability": call(
        trust.stability,
        values=SAMPLED.values,
        std_error=SAMPLED.std_error,
        degrees=5.0,
        top=2,
        level=0.9,
    ),
    "trust.diluted": call(
        trust.diluted,
        values=EXPLAINED.values,
        background=BACKGROUND,
        names=NAMES,
        least=0.8,
        gain=1.2,
    ),
    "trust.redundant_features": call(trust.redundant_features, background=BACKGROUND, least=0.8),
    "trust.sample_pairs": call(trust.sample_pairs, key=0, num_players=3, budget=8),
    "trust.attribution_shift": call(
        trust.attribution_shift, values=EXPLAINED.values, other=SAMPLED.values
    ),
    "plots.bar": call(plots.bar, explanation=EXPLAINED, **WITH_AXES),
    "plots.waterfall": call(plots.waterfall, explanation=EXPLAINED[0], **WITH_AXES),
    "plots.convergence": call(
        plots.convergence, explanations=[SAMPLED, EXPLAINED], row=0, features=None, **DRAWN
    ),
    "plots.classes": call(plots.classes, explanation=OF_CLASSES, **WITH_AXES),
    "plots.compare": call(plots.compare, explanations={"a": SAMPLED, "b": EXPLAINED}, **WITH_AXES),
    "plots.component_bars": call(
        plots.component_bars, decomposition=DECOMPOSITION, names=NAMES, **WITH_AXES
    ),
    "plots.ale": call(plots.ale, effect=ALE, output=None, **DRAWN),
    "plots.ice": call(plots.ice, curves=ICE, output=None, **WITH_AXES),
    "plots.pdp": call(plots.pdp, effect=PDP, output=None, **DRAWN),
    "plots.disparity": call(plots.disparity, disparity=DISPARITY, group="b", **WITH_AXES),
    "plots.interaction_heatmap": call(
        plots.interaction_heatmap, interactions=INTERACTIONS, names=NAMES, **DRAWN
    ),
    "plots.interaction_network": call(
        plots.interaction_network, interactions=INTERACTIONS, names=NAMES, **WITH_AXES
    ),
    "plots.lime_stability": call(
        plots.lime_stability, stability=STABILITY, row=0, output=None, **WITH_AXES
    ),
    "interactions.tree_interactions": call(
        interactions.tree_interactions, ensemble=TREES, rows=ROWS, index="SII", order=2
    ),
    "theory.constant_steps": call(
        theory.constant_steps, epsilon=0.1, delta=0.1, num_players=3, radius=1.0, bound=1.0
    ),
    "theory.leverage_draws": call(theory.leverage_draws, epsilon=0.1, delta=0.1, num_columns=3),
    "trust.efficient_bayes_shap": call(trust.efficient_bayes_shap, key=0, game=GAME, budget=8),
    "plots.credible_intervals": call(
        plots.credible_intervals, posterior=POSTERIOR, names=NAMES, level=0.9, **WITH_AXES
    ),
    "plots.decision": call(plots.decision, explanation=EXPLAINED, **WITH_AXES),
    "plots.force": call(plots.force, explanation=EXPLAINED[0], **WITH_AXES),
    "plots.violin": call(plots.violin, explanation=MANY_EXPLAINED, **WITH_AXES),
    "plots.series": call(plots.series, explanation=EXPLAINED[0], owner=[0, 1, 2], **DRAWN),
    "plots.group_difference": call(
        plots.group_difference,
        explanation=MANY_EXPLAINED,
        group_mask=np.arange(len(MANY_EXPLAINED)) < 2,
        **WITH_AXES,
    ),
    "plots.interaction_bars": call(
        plots.interaction_bars, interactions=INTERACTIONS, names=NAMES, **WITH_AXES
    ),
    "plots.interaction_stack": call(
        plots.interaction_stack, interactions=ADDING_UP, names=NAMES, **WITH_AXES
    ),
    "plots.beeswarm": call(plots.beeswarm, explanation=EXPLAINED, **WITH_AXES),
    "plots.heatmap": call(plots.heatmap, explanation=EXPLAINED, **WITH_AXES),
    "plots.scatter": call(plots.scatter, explanation=EXPLAINED, feature="x0", color="x1", **DRAWN),
    "plots.shap_bar": call(plots.shap_bar, explanation=EXPLAINED, **WITH_AXES),
    "plots.shap_waterfall": call(plots.shap_waterfall, explanation=EXPLAINED[0], max_display=3),
    "plots.diagnosis": call(plots.diagnosis, diagnosis=DIAGNOSIS, max_display=3, axes=None),
    "plots.residual_shares": call(
        plots.residual_shares, shares=residuals.shares(GAME), names=NAMES, **WITH_AXES
    ),
    "plots.patches": call(plots.patches, explanation=EXPLAINED[0], owner=[[0, 1, 2]], **DRAWN),
    "plots.image": call(plots.image, explanation=EXPLAINED, owner=[[0, 1, 2]]),
    "plots.text": call(plots.text, explanation=EXPLAINED, tokens=None),
}
