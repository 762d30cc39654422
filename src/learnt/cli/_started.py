"""When the process began, before anything heavy is imported: a budget counts from here."""

import time

STARTED = time.monotonic()
