"""Samplers for Sinter: ``soft_postselect``, which does not decode, and one for each installed decoder.

``tasks`` (Sinter tasks for any circuit), ``parent_watch``
(ends workers whose parent has ended), ``decoding_warnings`` (and heralds), ``task_sampler`` (what samplers
share), ``soft_postselect``, ``soft_decoding`` and ``by_name`` (all of them).
"""
