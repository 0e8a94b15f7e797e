"""The escape into a rotated surface code, which can be matched.

* `surface_patch`: the surface code, and the order of its gates;
* `grafted_code`: the color code in the tip of the surface code;
* `escape`: from the one code to the other;
* `readout`: the final check.
"""
