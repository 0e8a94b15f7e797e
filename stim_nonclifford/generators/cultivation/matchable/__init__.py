"""The escape into a rotated surface code, which can be matched.

* `surface_patch`: the surface code, and the order of its gates;
* `grafts`: tables of sites, for each distance of the color code;
* `grafted_code`: the color code in the tip of the surface code;
* `escape`: from the one code to the other, by rounds of `seam` and `graft_cycle`, and a `change_of_code`;
* `parts`: what these have in common;
* `readout`: the final check.
"""
