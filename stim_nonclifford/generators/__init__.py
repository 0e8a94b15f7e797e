"""Generated circuits: cultivation, distillation, and a T gate that is teleported into a surface code."""
