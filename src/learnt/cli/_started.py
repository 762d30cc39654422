"""When the process began, before anything heavy is imported: what a study says of its time counts from here."""

import time

STARTED = time.monotonic()
