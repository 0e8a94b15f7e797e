"""From what the sweeps find to the plan for a question.

``requested_outputs`` is the question, and drops operations that influence no requested output.
``width_reordering`` and ``rotation_merging`` put the others in order. ``row_layout`` reduces the bits of a
shot, ``sampling_tables`` turns rates into tables, and ``plan_construction`` writes the plan. ``width_limit``
refuses plans that are too wide.
"""
