"""A package that others import on the off chance is loaded at its first use, and is then the package itself."""

import os
import subprocess
import sys

import pytest

BEGIN = """
import sys
from learnt.engine.late_import import import_late_in_our_processes
import_late_in_our_processes()
loaded = lambda: "scipy.stats._stats_py" in sys.modules
import scipy.stats
from scipy import stats
from scipy.stats import rankdata
import sklearn.base, sklearn.metrics
assert not loaded()
"""
USES = {
    "attribute": "assert stats.norm.cdf(0.0) == 0.5",
    "function": "assert rankdata([3, 1, 2]).tolist() == [3.0, 1.0, 2.0]",
    "class": "from scipy.stats import rv_continuous; assert isinstance(stats.norm, rv_continuous)",
    "submodule": "from scipy.stats.distributions import norm; assert norm.cdf(0.0) == 0.5",
    "scikit-learn": "from sklearn.metrics import roc_auc_score as a; assert a([0, 1], [0.1, 0.9]) == 1.0",
}
END = """
if {used}:
    assert loaded()
    assert type(sys.modules["scipy.stats"]).__name__ == type(__import__("scipy").stats).__name__ == "module"
    assert scipy.stats.norm is __import__("scipy").stats.norm is stats.norm  # whoever got the stand-in has it too
import scipy.stats
assert scipy.stats.norm.cdf(0.0) == 0.5
"""


FORK = """
import os, traceback
for use, code in {uses}.items():
    child = os.fork()
    if child == 0:
        try:
            exec(code)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(use, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_first_use_loads_it():
    """Each use in a child of one process in which nothing is loaded."""
    uses = {use: code + END.format(used=use != "scikit-learn") for use, code in USES.items()}
    code = BEGIN + FORK.format(uses=uses)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{use} 0" for use in USES], done.stderr


def test_what_is_loaded_already_or_not_installed_is_left_alone():
    code = """
import sys, json
from learnt.engine.late_import import import_late
import_late("json")
import_late("no_such_package_anywhere")
assert sys.modules["json"] is json and "no_such_package_anywhere" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_nothing_is_of_a_class_of_a_package_that_is_not_loaded():
    code = """
import sys
from learnt.engine.late_import import import_late
import_late("email.message", classes=("Message",))
import email.message
Message = email.message.Message
assert "email.message" in sys.modules and type(email.message).__name__ == "_LateModule"
assert not isinstance(3, Message) and not issubclass(int, Message)
assert type(email.message).__name__ == "_LateModule"  # asking was no use
made = Message()
assert type(sys.modules["email.message"]).__name__ == "module"
assert isinstance(made, Message) and issubclass(type(made), Message) and not isinstance(3, Message)
assert type(made) is sys.modules["email.message"].Message and Message.__mro__ and Message.as_string
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_a_class_derived_from_one_that_is_not_loaded_is_derived_from_the_class_itself():
    code = """
import sys
from learnt.engine.late_import import import_late
import_late("email.message", classes=("Message",))
from email.message import Message
class Letter(Message):
    def as_string(self):
        return super().get_content_type()
assert Letter.__mro__[1] is sys.modules["email.message"].Message
assert Letter().as_string() == "text/plain" and isinstance(Letter(), Message) and type(Letter) is type
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_garbage_is_collected_again_after_loading_and_never_where_it_was_not():
    import gc

    from learnt.engine.late_import import collecting_later

    assert gc.isenabled()
    seen = []

    def fail():
        seen.append(gc.isenabled())
        raise KeyError

    with pytest.raises(KeyError), collecting_later():
        fail()
    assert seen == [False]
    assert gc.isenabled()
    gc.disable()
    try:
        with collecting_later():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
        gc.unfreeze()
