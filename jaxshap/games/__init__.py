"""Games: the worth of a coalition; games from tables and from games; coalitions and how they are
drawn; transforms of tables of 2**n worths.
"""

from jaxshap.games.arguments import MAX_COUNT as MAX_COUNT
from jaxshap.games.arguments import check_kind as check_kind
from jaxshap.games.arguments import read_flag as read_flag
from jaxshap.games.arguments import read_number as read_number
from jaxshap.games.arguments import read_path as read_path
from jaxshap.games.arguments import read_whole as read_whole
from jaxshap.games.arguments import shown as shown
from jaxshap.games.coalitions import affordable_pairs as affordable_pairs
from jaxshap.games.coalitions import all_coalitions as all_coalitions
from jaxshap.games.coalitions import gain_weights as gain_weights
from jaxshap.games.coalitions import kernel_mass as kernel_mass
from jaxshap.games.coalitions import log_binomial as log_binomial
from jaxshap.games.coalitions import paired as paired
from jaxshap.games.coalitions import reuse_mass as reuse_mass
from jaxshap.games.coalitions import reuse_weights as reuse_weights
from jaxshap.games.coalitions import with_ends as with_ends
from jaxshap.games.coalitions import without_ends as without_ends
from jaxshap.games.derived import grouped as grouped
from jaxshap.games.derived import minus as minus
from jaxshap.games.derived import table as table
from jaxshap.games.devices import array_library as array_library
from jaxshap.games.devices import held_fixed as held_fixed
from jaxshap.games.devices import mapped as mapped
from jaxshap.games.devices import runs_on_cpu as runs_on_cpu
from jaxshap.games.devices import steps_at_once as steps_at_once
from jaxshap.games.drawing import MAX_RANKED as MAX_RANKED
from jaxshap.games.drawing import draw_chances as draw_chances
from jaxshap.games.drawing import draw_coalitions as draw_coalitions
from jaxshap.games.drawing import draw_distinct as draw_distinct
from jaxshap.games.drawing import draw_independent as draw_independent
from jaxshap.games.drawing import draw_of_sizes as draw_of_sizes
from jaxshap.games.drawing import draw_pairs as draw_pairs
from jaxshap.games.drawing import inserted_absent as inserted_absent
from jaxshap.games.drawing import num_pairs as num_pairs
from jaxshap.games.drawing import schedule as schedule
from jaxshap.games.functions import check_arguments as check_arguments
from jaxshap.games.functions import check_function as check_function
from jaxshap.games.game import Game as Game
from jaxshap.games.game import Host as Host
from jaxshap.games.game import check_game as check_game
from jaxshap.games.index_weights import VALUES as VALUES
from jaxshap.games.index_weights import WEIGHTS as WEIGHTS
from jaxshap.games.index_weights import bernoulli as bernoulli
from jaxshap.games.index_weights import walsh_weight as walsh_weight
from jaxshap.games.index_weights import walsh_weights as walsh_weights
from jaxshap.games.index_weights import worth_weights as worth_weights
from jaxshap.games.making import make_game as make_game
from jaxshap.games.numbers import as_array as as_array
from jaxshap.games.numbers import as_numbers as as_numbers
from jaxshap.games.numbers import holds_numbers as holds_numbers
from jaxshap.games.numbers import is_real as is_real
from jaxshap.games.partitions import read_partition as read_partition
from jaxshap.games.precision import as_worths as as_worths
from jaxshap.games.precision import at_least_float32 as at_least_float32
from jaxshap.games.precision import full_precision as full_precision
from jaxshap.games.precision import widened as widened
from jaxshap.games.pytrees import as_pytree as as_pytree
from jaxshap.games.subsets import MOST_SETS as MOST_SETS
from jaxshap.games.subsets import PlayerSet as PlayerSet
from jaxshap.games.subsets import check_index as check_index
from jaxshap.games.subsets import check_num_sets as check_num_sets
from jaxshap.games.subsets import check_order as check_order
from jaxshap.games.subsets import num_sets as num_sets
from jaxshap.games.subsets import position as position
from jaxshap.games.subsets import set_positions as set_positions
from jaxshap.games.subsets import sets_of_size as sets_of_size
from jaxshap.games.subsets import sets_up_to as sets_up_to
from jaxshap.games.subsets import starts as starts
from jaxshap.games.transforms import inverse_walsh as inverse_walsh
from jaxshap.games.transforms import moebius as moebius
from jaxshap.games.transforms import shapley as shapley
from jaxshap.games.transforms import small_moebius as small_moebius
from jaxshap.games.transforms import superset_sums as superset_sums
from jaxshap.games.transforms import walsh as walsh
from jaxshap.games.transforms import zeta as zeta

__all__ = [
    "Game",
    "grouped",
    "make_game",
    "minus",
    "table",
]
