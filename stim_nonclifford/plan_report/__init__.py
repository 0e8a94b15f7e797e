"""What a plan costs, and which places in the circuit cause it.

``operations`` traces the operations of a plan to the circuit, ``table`` prints them, ``report`` has the
class that users hold.
"""

from .operations import PlannedOperation
from .report import PlanMethod, PlanReport, plan_report

__all__ = ["PlanMethod", "PlanReport", "PlannedOperation", "plan_report"]
