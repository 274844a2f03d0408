"""Gradients, a neighbour of Shapley values: integrated and expected gradients, named as such.

They answer another question, the mean slope on the way from a reference to a row, at a cost that
does not grow with the number of features; with few of them, sampled Shapley values may be cheaper.
They equal Shapley values where the model is a sum of functions of single features and of products
of features; elsewhere no number of gradients brings them closer.
"""

from jaxshap.gradients.expected import expected_gradients as expected_gradients
from jaxshap.gradients.integrated import integrated_gradients as integrated_gradients

__all__ = ["expected_gradients", "integrated_gradients"]
