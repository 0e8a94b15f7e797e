"""A GPU that is not there.

``kernels`` compiles, with the headers in ``runtime``, which run the result: every thread of the GPU is a fibre. ``device``
is the memory of the GPU, ``streams`` its streams, and ``cupy_module`` a module that stands for CuPy.
"""
