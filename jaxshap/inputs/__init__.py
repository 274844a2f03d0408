"""Inputs: what people pass in, read and checked once: tables, models, players and groups,
backgrounds.
"""

from jaxshap.inputs.arrays import as_floating as as_floating
from jaxshap.inputs.arrays import check_complete as check_complete
from jaxshap.inputs.arrays import checked_inputs as checked_inputs
from jaxshap.inputs.arrays import checked_table as checked_table
from jaxshap.inputs.arrays import checked_weights as checked_weights
from jaxshap.inputs.background import WeightedRows as WeightedRows
from jaxshap.inputs.background import kmeans as kmeans
from jaxshap.inputs.background import rows_and_weights as rows_and_weights
from jaxshap.inputs.background import spread as spread
from jaxshap.inputs.choice import Top as Top
from jaxshap.inputs.choice import check_columns as check_columns
from jaxshap.inputs.choice import name_outputs as name_outputs
from jaxshap.inputs.choice import read_choice as read_choice
from jaxshap.inputs.closures import warn_of_closures as warn_of_closures
from jaxshap.inputs.estimator_objects import class_names as class_names
from jaxshap.inputs.frame_libraries import library_of as library_of
from jaxshap.inputs.groups import Groups as Groups
from jaxshap.inputs.groups import column_groups as column_groups
from jaxshap.inputs.groups import column_number as column_number
from jaxshap.inputs.groups import column_numbers as column_numbers
from jaxshap.inputs.groups import names_of_step as names_of_step
from jaxshap.inputs.models import Model as Model
from jaxshap.inputs.models import check_model as check_model
from jaxshap.inputs.models import own_columns as own_columns
from jaxshap.inputs.models import read_model as read_model
from jaxshap.inputs.models import read_output_names as read_output_names
from jaxshap.inputs.outputs import check_alike as check_alike
from jaxshap.inputs.outputs import check_finite as check_finite
from jaxshap.inputs.outputs import check_outputs as check_outputs
from jaxshap.inputs.players import STAYS as STAYS
from jaxshap.inputs.players import Players as Players
from jaxshap.inputs.players import leaves as leaves
from jaxshap.inputs.players import patches as patches
from jaxshap.inputs.players import segments as segments
from jaxshap.inputs.players import together as together
from jaxshap.inputs.players import tokens as tokens
from jaxshap.inputs.reading import Inputs as Inputs
from jaxshap.inputs.reading import read_inputs as read_inputs
from jaxshap.inputs.reading import read_weights as read_weights
from jaxshap.inputs.reading import shown_table as shown_table
from jaxshap.inputs.tables import Table as Table
from jaxshap.inputs.tables import is_list as is_list
from jaxshap.inputs.tables import read_background as read_background
from jaxshap.inputs.tables import read_lengths as read_lengths
from jaxshap.inputs.tables import read_names as read_names
from jaxshap.inputs.tables import read_table as read_table

__all__ = [
    "Players",
    "Top",
    "WeightedRows",
    "column_groups",
    "kmeans",
    "leaves",
    "patches",
    "segments",
    "together",
    "tokens",
]
