"""What a logical error is, and which questions about it have an answer.

``noiseless_outputs`` finds outputs that are random without noise, ``coherent_noise`` the rotations that are
noise, ``mechanism_flips`` the observables that a single error flips by chance. ``refusals`` refuses or warns
of questions for these reasons.
"""
