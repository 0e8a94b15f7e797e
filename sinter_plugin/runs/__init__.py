"""Runs: tasks are counted shot by shot, by workers that get ranges of shots in any order.

``executors`` (where jobs run, and how they end), ``jobs`` (what workers do), ``schedule`` (where the shots of
a task begin and end; hands them out, and accepts them in order), ``progress`` (what a run says) and
``collection`` (``collect``).
"""
