"""The simulated user: what it may see, how it takes a turn, and the model-backed make of its three roles."""

from atr_user_sim.brief import UserBrief
from atr_user_sim.history import render_history
from atr_user_sim.interface import SimulatedUser, UserSimFault, UserTurn
from atr_user_sim.lines import load_lines
from atr_user_sim.model_backed import ModelClassifier, ModelRouter, ModelSimulator
from atr_user_sim.user_turn import simulated_user

__all__ = [
    "ModelClassifier",
    "ModelRouter",
    "ModelSimulator",
    "SimulatedUser",
    "UserBrief",
    "UserSimFault",
    "UserTurn",
    "load_lines",
    "render_history",
    "simulated_user",
]
