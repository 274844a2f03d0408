"""The rooms of the library in the order in which data flows: imports point to earlier ones."""

ROOMS = [
    "errors",
    "games",
    "theory",
    "estimators",
    "engine",
    "inputs",
    "values",
    "rewards",
    "trees",
    "interactions",
    "residuals",
    "effects",
    "lime",
    "trust",
    "explaining",
    "causal",
    "plots",
    "report",
    "cli",
]
