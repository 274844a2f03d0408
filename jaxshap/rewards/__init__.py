"""Rewards: games that share out a function of the model's mean output instead of the output itself.

A reward acts after absent features are averaged out. To average rewards instead, put the reward
into the model.
"""

from jaxshap.rewards.class_rewards import ClassReward as ClassReward
from jaxshap.rewards.class_rewards import agreement as agreement
from jaxshap.rewards.class_rewards import class_probability as class_probability
from jaxshap.rewards.class_rewards import class_rank as class_rank
from jaxshap.rewards.class_rewards import log_odds as log_odds
from jaxshap.rewards.losses import loss as loss
from jaxshap.rewards.reward_games import averaged as averaged
from jaxshap.rewards.reward_games import reward as reward

__all__ = [
    "ClassReward",
    "agreement",
    "averaged",
    "class_probability",
    "class_rank",
    "log_odds",
    "loss",
    "reward",
]
