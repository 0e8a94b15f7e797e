"""Error models for decoders.

``detector_error_model`` converts effects to Stim's error model, and ``error_model_changes`` conditions and
decomposes such models.
"""
