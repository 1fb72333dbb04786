"""How long a check waits for what has to happen eventually."""

import os
import time

# Only a failing check waits that long. A slow computer sets more.
PATIENCE = float(os.environ.get("BAILIWICK_TEST_PATIENCE", "60"))


def wait_until(holds, pause: float = 0.05):
    """Waits until `holds()` is true, and returns what it returned last."""
    deadline = time.monotonic() + PATIENCE
    while not (value := holds()) and time.monotonic() < deadline:
        time.sleep(pause)
    return value
