"""Processes: where jobs run, and how they end.

``parent_watch`` (ends workers whose parent has ended), ``interrupts`` (signals) and ``executors``
(processes of this machine, Dask's workers, and how their loss is noticed).
"""
