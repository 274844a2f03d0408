"""Rewards: games that share out a function of the model's mean output instead of the output itself."""

from jaxshap.rewards.reward_games import agreement as agreement
from jaxshap.rewards.reward_games import averaged as averaged
from jaxshap.rewards.reward_games import class_probability as class_probability
from jaxshap.rewards.reward_games import class_rank as class_rank
from jaxshap.rewards.reward_games import log_odds as log_odds
from jaxshap.rewards.reward_games import loss as loss
from jaxshap.rewards.reward_games import reward as reward

__all__ = [
    "agreement",
    "averaged",
    "class_probability",
    "class_rank",
    "log_odds",
    "loss",
    "reward",
]
