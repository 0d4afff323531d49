"""Labelled questions and turns, and the measuring of a Router or a Classifier on them."""

from atr_user_sim.calibration.measure import (
    ClassifierCalibration,
    RouterCalibration,
    calibrate_classifier,
    calibrate_router,
)

__all__ = ["ClassifierCalibration", "RouterCalibration", "calibrate_classifier", "calibrate_router"]
