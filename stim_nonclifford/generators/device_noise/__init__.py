"""The noise of a device, from its calibration table: relaxation, readout and errors of gates.

``calibration`` has the table, ``moment`` the noise of one moment, and ``noise`` adds it to circuits.
"""

from .calibration import PairCalibration, QubitCalibration
from .noise import DeviceNoise

__all__ = ["DeviceNoise", "PairCalibration", "QubitCalibration"]
