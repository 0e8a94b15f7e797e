"""OpenQASM 2 and 3.

``values``       values with their types, and conversions between them
``arithmetic``   arithmetic of numbers
``scopes``       names, and where they are known
``expressions``  evaluates expressions
``controls``     unitaries under many controls
``gates``        definitions of gates, and their modifiers
``execution``    executes statements
``reader``       reads a program
``writer``       writes a circuit
"""

__all__: list[str] = []
