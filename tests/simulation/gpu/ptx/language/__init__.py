"""From PTX to C++: ``syntax`` reads the text, ``instructions`` translates single instructions, ``translation`` kernels."""
