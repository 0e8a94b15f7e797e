"""The stages after the injection.

``syndrome_cycle`` measures the stabilizers, ``cat_check`` the logical Clifford operator, along one of the
``cat_trees``. ``growth`` and ``escape`` go to larger codes, with ``bell_pairs`` on ``bell_paths``.
``final_check`` ends the circuit. ``rotations`` has the T gates around logical checks.
"""
