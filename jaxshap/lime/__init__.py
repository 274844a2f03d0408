"""LIME: local linear surrogates of a model around a row."""

from jaxshap.lime.sparse_regression import ForwardSelection as ForwardSelection
from jaxshap.lime.sparse_regression import LassoPath as LassoPath
from jaxshap.lime.surrogate import LocalSurrogate as LocalSurrogate
from jaxshap.lime.surrogate import WidthStability as WidthStability
from jaxshap.lime.surrogate import local_surrogate as local_surrogate
from jaxshap.lime.surrogate import width_stability as width_stability

__all__ = [
    "ForwardSelection",
    "LassoPath",
    "LocalSurrogate",
    "WidthStability",
    "local_surrogate",
    "width_stability",
]
