"""The coloured sentence of the README, as a notebook draws it; Chromium takes the picture.

python examples/text_picture.py                # writes examples/text.png
python examples/text_picture.py other.png
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

beside = pathlib.Path(__file__).with_name("text.png")
path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else beside
readme = (beside.parent.parent / "README.md").read_text(encoding="utf-8")
(code,) = re.findall(r"```python\n(from sklearn.*?)^jaxshap(.*?)```", readme, re.DOTALL | re.M)
explained: dict = {}
exec(f"{code[0]}explained = jaxshap{code[1]}", explained)
browser = shutil.which("chromium") or shutil.which("google-chrome")
if browser is None:
    sys.exit("there is no Chromium: install it.")

with tempfile.TemporaryDirectory() as folder:
    page = pathlib.Path(folder, "page.html")
    head = "<meta charset='utf-8'><body style='font-family:sans-serif;margin:4px 12px'>"
    page.write_text(head + explained["explained"]._repr_html_(), encoding="utf-8")
    subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/profile",
            "--window-size=760,200",
            f"--screenshot={path.resolve()}",
            page.as_uri(),
        ],
        check=True,
        capture_output=True,
    )
pixels = plt.imread(path)
drawn = np.flatnonzero((pixels < 1).any((1, 2)))
plt.imsave(path, pixels[: drawn[-1] + 8])  # without the empty rest of the page
print(path)
