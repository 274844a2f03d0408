"""The checker of annotations in the tests: beartype, a whole number being a float as in PEP 484."""

import random

# beartype draws which item of a container it checks; tests watch the global generator, so it gets
# one of its own.
shared, random.getrandbits = random.getrandbits, random.Random(0).getrandbits
from beartype import BeartypeConf, beartype  # noqa: E402

random.getrandbits = shared

typechecked = beartype(conf=BeartypeConf(is_pep484_tower=True))
