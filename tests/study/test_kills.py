"""Studies killed at random moments: three kills here, as many as one likes by `kills.py --kills 20`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.long
def test_a_study_killed_at_random_moments_ends_as_if_it_had_not_been():
    script = Path(__file__).with_name("kills.py")
    done = subprocess.run([sys.executable, str(script), "--kills", "3", "--each", "3"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["kills"] == 3
    assert report["wrong"] == []
