"""The command line."""

from jaxshap.cli.demo import run_demo as run_demo
from jaxshap.cli.run import ESTIMATORS as ESTIMATORS
from jaxshap.cli.run import run_explain as run_explain
