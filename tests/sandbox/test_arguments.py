"""How arguments arrive in the student's function, and how they look afterwards."""

import numpy as np
import pytest

from app.sandbox.job import Call, Function

SAME = """
    import numpy as np
    def f(value):
        return eval(checks)(value)
"""


@pytest.mark.parametrize(
    ("argument", "check"),
    [
        (3, "type(x) is int and x == 3"),
        (2**100, "x == 2**100"),
        (True, "x is True"),
        (0.5, "type(x) is float and x == 0.5"),
        (float("nan"), "x != x"),
        (2j, "x == 2j"),
        (None, "x is None"),
        ("héllo", "x == 'h\\u00e9llo'"),
        (np.float32(0.5), "type(x) is float and x == 0.5"),
        ((1, [2, {"W": None}]), "x == (1, [2, {'W': None}])"),
        (np.arange(6).reshape(2, 3), "x.shape == (2, 3) and x.dtype == np.int64 and x[1, 2] == 5"),
        (np.zeros((0, 3), np.float32), "x.shape == (0, 3) and x.dtype == np.float32"),
        (np.array([True]), "x.dtype == bool and x.flags.writeable"),
        (np.zeros((3, 5)).T, "x.shape == (5, 3) and x.flags.owndata is False"),
        ({"W": {"q": np.ones(2)}}, "x['W']['q'].sum() == 2"),
    ],
)
def test_arguments_arrive_as_they_were_sent(run_one, argument, check):
    answer = run_one(f"import numpy as np\ndef f(x):\n    return bool({check})\n", argument)
    assert answer.failure is None, answer.failure
    assert answer.values[0].array


def test_each_call_gets_fresh_arrays_that_may_be_written_to(run):
    ones = np.ones(3)
    text = """
        def f(x):
            x += 1
            return x
    """
    answers = run(text, Call("f", (ones,)), Call("f", (ones,)))
    assert [answer.values[0].array.tolist() for answer in answers] == [[2.0] * 3] * 2
    assert ones.tolist() == [1.0] * 3


def test_echo_shows_the_arguments_as_they_stand_after_the_call(run):
    text = """
        def f(x, weights, mask):
            weights["W"][0] = 7
            return x
    """
    arguments = (np.zeros(2), {"W": np.zeros(3), "note": "text"}, None)
    (answer,) = run(text, Call("f", arguments, echo=True))
    assert [(value.path, value.array.tolist()) for value in answer.arguments_after] == [
        ((0,), [0.0, 0.0]),
        ((1, "W"), [7.0, 0.0, 0.0]),
    ]


def test_an_argument_of_another_type_is_our_mistake(run_one):
    with pytest.raises(TypeError, match="type set cannot enter the sandbox"):
        run_one("def f(x): pass", {1, 2})


def test_an_argument_can_be_a_function_that_the_files_define(run):
    text = """
        def twice(x):
            return 2 * x
        def f(functions, x):
            return functions["g"](x)
    """
    arguments = ({"g": Function("twice")}, np.ones(3))
    (answer,) = run(text, Call("f", arguments))
    assert answer.values[0].array.tolist() == [2.0] * 3


def test_an_argument_that_no_file_defines_is_not_defined(run):
    (answer,) = run("def f(g): return 1", Call("f", (Function("twice"),)))
    assert answer.failure.outcome == "not_defined"
    assert answer.failure.detail == "twice"
