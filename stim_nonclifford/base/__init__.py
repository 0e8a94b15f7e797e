"""What every other room may use.

``arguments`` checks the arguments of public functions, ``masks`` those that choose detectors or observables.
``probabilities`` has those of parities, and intervals of counted rates. ``memory`` keeps to limits of memory,
``notebook`` has what notebooks show, ``stim_refusals`` reads errors of Stim, and ``unbuilt`` says what to do
where the package has no compiled module.
"""
