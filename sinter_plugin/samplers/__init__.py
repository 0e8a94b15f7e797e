"""Samplers for Sinter: ``soft_postselect``, which does not decode, and one for each installed decoder.

``batch_size`` (shots per call), ``masks`` (Sinter's bit masks), ``tasks`` (Sinter tasks for any circuit),
``state_check`` (a logical state after decoding), ``heralds`` (detectors that announce errors),
``decoding_warnings``, ``compiled_sampler``, ``soft_postselect``, ``soft_decoding`` and ``by_name`` (all of
them).
"""
