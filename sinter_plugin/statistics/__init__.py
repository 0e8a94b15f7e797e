"""Files of statistics: what their rows mean, which can be added up, and how they are read and written.

``row_warnings`` (warnings that stand in rows), ``shot_ranges`` (which shots of a seed a row counts),
``csv_rows`` (reads and checks a file), ``estimates`` and ``gap_points`` (what a figure shows of them),
``statistics_file`` (the file that a run saves to). Each uses only earlier ones.
"""
