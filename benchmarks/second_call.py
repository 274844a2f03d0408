"""The second explanation on a busy machine: the default's time over that of `Leverage`.

Two neighbours compute without a pause. Both explain the same network at the default budget, in
turns; the first call of each, which compiles, is not timed.
"""

import argparse

import numpy as np
import report
from busy_neighbour import neighbours, timed
from networks import Setting, data_of

import jaxshap

SETTINGS = Setting(12, 50, 5), Setting(30, 100, 20), Setting(300, 1, 10)
GOAL = 5  # times as long at most


def calls(setting: Setting):
    """An explanation by the default and one by `Leverage`, both compiled."""
    data = data_of(setting)

    def explained(estimator):
        def call():
            return jaxshap.explain(
                data.network, data.rows, data.background, estimator=estimator, progress=False
            )

        return call

    both = explained(None), explained(jaxshap.Leverage())
    ours, _ = (call() for call in both)
    return both, ours.estimator


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=9)
    options.add_argument("--neighbours", type=int, default=2)
    options = options.parse_args()
    lines = []
    for setting in SETTINGS:
        both, estimator = calls(setting)
        for count in (0, options.neighbours):
            with neighbours(count):
                ours, theirs = np.array(timed(both, options.repeats))
            ratio = np.median(ours / theirs)
            seconds = (f"{np.median(each):.3f} s" for each in (ours, theirs))
            lines.append((*setting[:3], repr(estimator), count, *seconds, f"{ratio:.1f}"))
            print(*lines[-1], sep="  ", flush=True)
    header = ["players", "background", "rows", "default", "busy neighbours"]
    header += ["default takes", "Leverage takes", "ratio"]
    notes = [f"Medians of {options.repeats} calls, the ratio of neighbouring ones. Goal: {GOAL}."]
    report.write_table(__file__, "The second call on a busy machine", header, lines, notes)


if __name__ == "__main__":
    main()
