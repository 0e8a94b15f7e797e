"""Shots in which errors lie on a path between the boundaries of a decoder's graph.

``logical_paths`` draws paths, ``path_shots`` makes plain shots ones with paths, ``wrong_shots`` puts both
together, and ``coverage`` measures which wrong shots they hardly ever show.
"""
