"""How many inputs are tried: few and the same in every run, or many by an environment variable.

    JAXSHAP_FUZZ=10000 python -m pytest -n 0 tests/fuzz

tries about that many inputs, new ones in every run, and prints how many there were.
"""

import os

import jax
from hypothesis import HealthCheck, given, settings

from jaxshap.errors import JaxshapError

CALLS = int(os.environ.get("JAXSHAP_FUZZ", "0"))
USUAL_CALLS = 800  # of all tests together
CALLS_PER_CACHE = 200  # of many: a process has no room for the programs of thousands
tried: dict[str, tuple[int, int]] = {}  # by test: calls, and answers among them


def fuzzed(share, least_answered=0.3, **strategies):
    """Run a test on inputs drawn from these strategies, its share of all of them.

    It may end in an error of the library's own types; so that it does not always, this share at
    least must be answered.
    """
    number = max(1, round(share * (CALLS or USUAL_CALLS)))
    how = settings(
        max_examples=number,
        deadline=None,
        database=None,
        derandomize=not CALLS,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )

    def decorate(test):
        def counted(**arguments):
            asked, answered = tried.get(test.__name__, (0, 0))
            tried[test.__name__] = (asked + 1, answered)
            if CALLS and asked % CALLS_PER_CACHE == CALLS_PER_CACHE - 1:
                jax.clear_caches()
            try:
                test(**arguments)
            except JaxshapError:
                return
            tried[test.__name__] = (asked + 1, answered + 1)

        counted.__name__ = test.__name__  # hypothesis derives the inputs from it
        search = how(given(**strategies)(counted))

        def run():
            search()
            asked, answered = tried[test.__name__]
            assert answered >= least_answered * asked

        run.__name__, run.__doc__ = test.__name__, test.__doc__
        return run

    return decorate
