"""From what the sweeps find to the plan for a question.

``requested_outputs`` is the question. ``needed_operations`` drops what influences no requested output.
``scheduling`` puts the others in order, by ``width_reordering`` and ``rotation_merging``.
``row_layout`` reduces the bits of a shot, ``sampling_tables`` turns rates into tables,
and ``plan_construction`` writes the plan. ``width_limit`` refuses plans that are too wide.
"""
