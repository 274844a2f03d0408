"""Images: what stands in the place of absent parts, made of each image itself, so that no
background is needed. They are value functions, for `value=`, each named in the result.
"""

from jaxshap.images.blurred import Blurred as Blurred
from jaxshap.images.inpainted import Inpainted as Inpainted
from jaxshap.images.mean_colour import MeanColour as MeanColour
from jaxshap.images.noise import Noise as Noise

__all__ = ["Blurred", "Inpainted", "MeanColour", "Noise"]
