"""The speed of the GPU engine, its checks on a GPU, and what its kernels do, counted without one."""
