"""The cost of a plan, and the instructions of the circuit that cause it.

``operations`` finds the instruction behind each operation of a plan, ``table`` prints them, ``picture``
draws them, and ``report`` has the class ``PlanReport``.
"""

from .operations import PlannedOperation
from .report import PlanMethod, PlanReport, plan_report

__all__ = ["PlanMethod", "PlanReport", "PlannedOperation", "plan_report"]
