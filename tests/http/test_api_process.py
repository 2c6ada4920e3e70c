"""The API process holds nothing that knows an answer."""

import subprocess
import sys


def test_a_fresh_interpreter_with_the_application_has_no_numpy_and_no_answers() -> None:
    script = (
        "import sys, app.main, app.service.serve\n"
        "from app.settings import Settings\n"
        "import tempfile\n"
        "app.main.create_app(Settings(data=tempfile.mkdtemp()))\n"
        "bad = ('numpy', 'torch', 'reference', 'app.grading', 'app.sandbox')\n"
        "print([m for m in sys.modules if m.startswith(bad)])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
