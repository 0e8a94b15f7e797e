"""The kernels of the GPU engine, run without a GPU from the PTX that NVRTC makes of them.

The rooms, each of which imports from those before it only:

``language``  turns PTX into C++.
``machine``   runs the result: every thread of the GPU is a fibre, a random one of those that can go on runs up to its next
              synchronization, and every access to memory is checked. The engine's own ``CupyBackend`` makes its own
              launches, on a module that stands for CuPy.

``comparison`` compares the shots with those of the CPU engine, for the circuits of ``cases``.

What is checked: bounds and alignment of each access; hangs; masks that name lanes that have ended or are elsewhere;
different barriers in the lanes of a warp; number and sizes of arguments, grid, block and shared memory; reads of
shared memory that nobody wrote; conflicting accesses of two threads that neither a barrier nor ``__syncwarp``
orders (shuffles and votes do not count as order; atomics and volatile reads may conflict with each other); uses of an
array by two streams that no event orders. Memory is garbage at first.

What is not: ptxas and the hardware (machine code, registers, time), memory models weaker than "no barrier between
them", CuPy itself.
"""
