"""`python -m jaxshap` hands over to `jaxshap.cli`."""

import sys

from jaxshap.cli import main

if __name__ == "__main__":
    sys.exit(main())
