"""One page per circuit: its ticks on the qubits' coordinates, and where its logical errors come from.

``frames``    what the faults of a malignant set become, tick by tick
``page``      the page: data for the script, in one file with it

``page.html``, ``page.css`` and ``page.js`` are put together by ``page``.
"""

from .page import findings_of, page_of

__all__ = ["findings_of", "page_of"]
