"""The checker of annotations in the tests: beartype, a whole number being a float as in PEP 484."""

from beartype import BeartypeConf, beartype

typechecked = beartype(conf=BeartypeConf(is_pep484_tower=True))
