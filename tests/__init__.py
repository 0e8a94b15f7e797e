"""The tests of the package, in the folders of the code; ``support`` has what serves several of them."""
