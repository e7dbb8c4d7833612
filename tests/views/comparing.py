"""Pages that compare all memories in the background, once they have."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from dashboard.components import working
from tests.waiting import LAST_RESORT


def compared(page: AppTest) -> AppTest:
    """The page when all memories have been compared."""
    while (work := working.of(f"compare-{page.session_state['agent']}")) is not None:
        work.wait(LAST_RESORT)
        page.run()
    assert not page.exception, page.exception
    return page
