"""Shapley values of trees by brute force in float64: every coalition, every leaf."""

import itertools
import math

import numpy as np


def goes_left(tree, node, x):
    value = x[tree.feature[node]]
    if node in tree.categories:
        if np.isnan(value):
            return bool(tree.missing_left[node])
        return int(value) in tree.categories[node]
    return bool(tree.missing_left[node]) if np.isnan(value) else bool(value <= tree.threshold[node])


def margin(tree, x, node=0):
    while tree.left[node] >= 0:
        node = tree.left[node] if goes_left(tree, node, x) else tree.right[node]
    return tree.value[node]


def path_dependent_worth(tree, x, present, node=0):
    """Both children in proportion to their covers where the feature is absent."""
    if tree.left[node] < 0:
        return tree.value[node]
    left, right = tree.left[node], tree.right[node]
    if tree.feature[node] in present:
        return path_dependent_worth(tree, x, present, left if goes_left(tree, node, x) else right)
    both = [
        tree.cover[child] * path_dependent_worth(tree, x, present, child) for child in (left, right)
    ]
    return (both[0] + both[1]) / tree.cover[node]


def worths(trees, outputs, num_features, x, background=None):
    """v(S) for every S as a bit mask, outputs last."""
    found = np.zeros((2**num_features, outputs))
    for mask in range(2**num_features):
        present = {i for i in range(num_features) if mask >> i & 1}
        for tree in trees:
            if background is None:
                worth = path_dependent_worth(tree, x, present)
            else:
                mixed = (
                    np.array([x[i] if i in present else z[i] for i in range(num_features)])
                    for z in background
                )
                worth = np.mean([margin(tree, row) for row in mixed], axis=0)
            if tree.output is None:
                found[mask] += worth
            else:
                found[mask, tree.output] += worth[0]
    return found


def shapley(table):
    n = len(table).bit_length() - 1
    values = np.zeros((n, *table.shape[1:]))
    for i in range(n):
        rest = [j for j in range(n) if j != i]
        for size in range(n):
            weight = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
            for chosen in itertools.combinations(rest, size):
                mask = sum(1 << j for j in chosen)
                values[i] += weight * (table[mask | 1 << i] - table[mask])
    return values


def interactions(table):
    """shap's convention: half of I_ij off the diagonal, the rest of φ_i on it."""
    n = len(table).bit_length() - 1
    found = np.zeros((n, n, *table.shape[1:]))
    for i, j in itertools.permutations(range(n), 2):
        rest = [k for k in range(n) if k not in (i, j)]
        for size in range(n - 1):
            weight = math.factorial(size) * math.factorial(n - size - 2) / math.factorial(n - 1) / 2
            for chosen in itertools.combinations(rest, size):
                mask = sum(1 << k for k in chosen)
                both, first, second = mask | 1 << i | 1 << j, mask | 1 << i, mask | 1 << j
                found[i, j] += weight * (table[both] - table[first] - table[second] + table[mask])
    values = shapley(table)
    for i in range(n):
        found[i, i] = values[i] - found[i].sum(0)
    return found
