"""Runs: tasks are counted shot by shot, by workers that get ranges of shots in any order.

``jobs`` (what workers do), ``schedule`` (hands out the shots of a task and accepts them in order),
``resuming`` (where a run begins and ends), ``progress`` (what it shows) and ``collection`` (``collect``).
"""
