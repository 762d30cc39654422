"""``python -m learnt.accel``: a script runs as it does by python, with the same predictions."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = """
import json, pickle, sys
import sklearn.linear_model as lm
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
import local_module

X, y = load_iris(return_X_y=True)
A, b = load_diabetes(return_X_y=True)
models = [SVC(), make_pipeline(StandardScaler(), KNeighborsClassifier()), GaussianNB()]
models += [lm.LogisticRegression(max_iter=1000)]
amounts = [lm.Ridge(), lm.Lasso(alpha=0.1), lm.LinearRegression()]
out = {"argv": sys.argv, "name": __name__, "local": local_module.WORD, "module": lm.Ridge.__module__}
out["labels"] = [m.fit(X, y).predict(X).tolist() for m in models]
out["amounts"] = [m.fit(A, b).predict(A).tolist() for m in amounts]
out["variance"] = PCA(2).fit(X).explained_variance_.tolist()
out["inertia"] = KMeans(3, n_init=10, random_state=0).fit(X).inertia_
out["forest"] = RandomForestClassifier(20, random_state=0).fit(X, y).score(X, y)
with open(sys.argv[1], "wb") as file:
    pickle.dump([*models, *amounts], file)
print(json.dumps(out))
if len(sys.argv) > 2:
    sys.exit(int(sys.argv[2]))
"""


def run(*arguments, cwd, code=0, **environment):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **environment},
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "sub").mkdir()
    (folder / "sub" / "script.py").write_text(SCRIPT)
    (folder / "sub" / "local_module.py").write_text("WORD = 'here'")
    (folder / "fails.py").write_text(
        "import sys\nfrom sklearn.linear_model import Ridge\n"
        "def broken():\n    raise KeyError(Ridge.__module__, *sys.argv[1:])\nbroken()\n"
    )
    return folder


@pytest.mark.long
def test_a_script_with_and_without(folder):
    plain = json.loads(run("sub/script.py", "plain.pkl", cwd=folder).stdout)
    done = run("-m", "learnt.accel", "--report", "sub/script.py", "ours.pkl", "3", cwd=folder, code=3)
    ours = json.loads(done.stdout)
    assert (plain["module"], ours["module"]) == ("sklearn.linear_model._ridge", "learnt.accel.replaced")
    assert ours["argv"] == ["sub/script.py", "ours.pkl", "3"]
    assert (ours["name"], ours["local"]) == ("__main__", "here")
    assert ours["labels"] == plain["labels"]
    np.testing.assert_allclose(ours["amounts"], plain["amounts"], rtol=1e-4)  # Lasso stops at a gap of 1e-4
    np.testing.assert_allclose(ours["variance"], plain["variance"], rtol=1e-10)
    assert ours["inertia"] == pytest.approx(plain["inertia"], rel=1e-6)
    assert ours["forest"] > 0.97

    assert "learnt.accel: 11 replaced names were used" in done.stderr
    assert "KNeighborsClassifier    fit 1× " in done.stderr

    # The pickle loads here, where nothing is installed.
    models = pickle.loads((folder / "ours.pkl").read_bytes())
    from sklearn.datasets import load_iris

    assert models[0].predict(load_iris().data).tolist() == ours["labels"][0]


def test_a_traceback_is_the_scripts(folder):
    done = run("-m", "learnt.accel", "fails.py", "a", cwd=folder, code=1)
    lines = done.stderr.splitlines()
    assert done.stdout == ""
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].startswith('  File "') and lines[1].endswith('fails.py", line 5, in <module>')  # noqa: PT018
    assert lines[-1] == "KeyError: ('learnt.accel.replaced', 'a')"
    assert "runpy" not in done.stderr
    as_module = run("-m", "learnt.accel", "-m", "fails", "b", cwd=folder, code=1)
    assert as_module.stderr.splitlines()[-1] == "KeyError: ('learnt.accel.replaced', 'b')"


@pytest.mark.parametrize("script", ["where.py", "./where.py", "sub/../where.py", "{folder}/where.py", "package"])
def test_a_script_finds_itself_wherever_it_goes(folder, script):
    """`__file__`, and what is imported from beside it, as python gives them."""
    (folder / "beside.py").write_text("WORD = 'beside'")
    (folder / "where.py").write_text(
        "import os, sys\nos.chdir('/')\nimport beside\n"
        "print(__file__, os.path.exists(__file__), sys.path[0], sys.argv, beside.WORD)"
    )
    (folder / "package").mkdir(exist_ok=True)
    for name in ("where.py", "beside.py"):
        text = (folder / name).read_text()
        (folder / "package" / name.replace("where", "__main__")).write_text(text)
    script = script.format(folder=folder)
    plain, ours = (run(*how, script, cwd=folder).stdout for how in ((), ("-m", "learnt.accel")))
    assert ours == plain
    assert " True " in ours


def test_a_program_is_compiled_as_python_compiles_it(folder):
    """Without what our own files import from `__future__`: annotations are what they are."""
    code = "import sys\ndef f(x: int): pass\nprint(f.__annotations__, sys.modules['__main__'].f is f)"
    (folder / "annotated.py").write_text(code)
    for how in (("annotated.py",), ("-c", code)):
        assert run("-m", "learnt.accel", *how, cwd=folder).stdout == run(*how, cwd=folder).stdout


def test_code_on_the_command_line_and_names_left(folder):
    code = "import sys; from sklearn.svm import SVC, SVR; print(sys.argv, SVC.__module__, SVR.__module__)"
    done = run("-m", "learnt.accel", "--leave", "SVR", "-c", code, "a", cwd=folder, LEARNT_ACCEL_REPORT="1")
    assert done.stdout == "['-c', 'a'] learnt.accel.replaced sklearn.svm._classes\n"
    assert done.stderr == "learnt.accel: 0 replaced names were used\n"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "no script was given"),
        (["--nonsense", "x.py"], "unknown option --nonsense"),
        (["nowhere.py"], "cannot find 'nowhere.py'"),
        ([str(Path(__file__).parent)], "there is no __main__.py in"),
        (["-c"], "nothing follows -c"),
    ],
)
def test_what_cannot_run_is_refused_with_the_reason(arguments, why, monkeypatch, capsys):
    from learnt.accel import uninstall
    from learnt.accel._command import main

    monkeypatch.setattr(sys, "argv", ["accel", *arguments])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    with pytest.raises(SystemExit) as stopped:
        main()
    uninstall()
    assert stopped.value.code == 2
    assert f"learnt.accel: {why}" in capsys.readouterr().err


SCRIPTS = sorted((Path(__file__).resolve().parents[2] / "benchmarks/scripts").glob("*.py"))


@pytest.mark.long
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_of_the_benchmarks_run_and_nothing_goes_back(script, tmp_path):
    done = run("-m", "learnt.accel", "--report", str(script), cwd=tmp_path)
    assert done.stdout.strip()
    assert "was scikit-learn's" not in done.stderr
