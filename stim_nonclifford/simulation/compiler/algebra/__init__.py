"""The algebra that the compiler works with.

``gf2`` has linear algebra over GF(2) with masks, ``sparse_rows`` the same with lists of ones. ``paulis`` has
products of Paulis, ``clifford_gates`` what gates make of them.
"""
