"""What every other room may use.

``arguments`` checks the arguments of public functions, ``memory`` keeps to limits of memory, ``notebook`` has
what notebooks show, and ``unbuilt`` says what to do where the package has no compiled module.
"""
