"""The picture of the README: one tumour from base value to prediction, and sixty at a glance.

python examples/readme_picture.py              # writes examples/readme.png
python examples/readme_picture.py other.png
"""

import pathlib
import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jaxshap

data = load_breast_cancer(as_frame=True)
rows = data.data.sample(frac=1, random_state=0)
malignant = data.target[rows.index] == 0
train, test = rows[:400], rows[400:460]
network = make_pipeline(
    StandardScaler(), MLPClassifier((16,), alpha=1, max_iter=1000, random_state=0)
)
network.fit(train, malignant[:400])

# Two classes: the second is what it was asked about. All sixty rows share 600 coalitions.
explanation = jaxshap.explain(
    network, test, train[:50], budget=600, output_names=["benign", "malignant"]
)
chance = explanation[:, :, "malignant"]
predicted = chance.base_values + chance.values.sum(1)
doubtful = int(abs(predicted - 0.75).argmin())

plt.switch_backend("Agg")
figure, (left, right) = plt.subplots(1, 2, figsize=(14, 4.6), layout="constrained")
jaxshap.plots.waterfall(chance[doubtful], max_display=9, ax=left)
left.set(title="One tumour: the chance that it is malignant", xlabel="chance (95 % intervals)")
jaxshap.plots.beeswarm(chance, max_display=10, ax=right)
right.set_title("Sixty tumours")
right.set_xlabel("Shapley value: change of the chance", fontsize=10)
right.tick_params(labelsize=10)
figure.axes[-1].tick_params(labelsize=10)
figure.axes[-1].set_ylabel("value of the feature", fontsize=10)
beside = pathlib.Path(__file__).with_name("readme.png")
path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else beside
figure.savefig(path, dpi=90, metadata={"Software": None})
print(f"{path}: {explanation.estimator}, largest standard error {chance.std_error.max():.2g}")
