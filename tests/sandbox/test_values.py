"""What a function may return, and how it arrives."""

import numpy as np
import pytest

from app.domain.outcome import Outcome
from app.sandbox.job import Answer, Call


def returned(run_one, expression: str, setup: str = "") -> Answer:
    return run_one(f"import numpy as np, torch\n{setup}\ndef f():\n    return {expression}\n")


def sole(answer: Answer):
    assert answer.failure is None, answer.failure
    (value,) = answer.values
    assert value.path == ()
    return value


@pytest.mark.parametrize(
    ("expression", "dtype", "source"),
    [
        ("np.full((3, 5), 2.0)", "float64", "array"),
        ("np.full((3, 5), 2, np.int16)", "int16", "array"),
        ("np.full((3, 5), True)", "bool", "array"),
        ("np.full((3, 5), 2, '>f8')", "float64", "array"),
        ("np.full((3, 5), 2, np.float16)", "float16", "array"),
        ("np.full((3, 5), 2, np.longdouble)", "float64", "array"),
        ("np.full((5, 3), 2.0).T", "float64", "array"),
        ("np.full((3, 5), 2.0).view(np.matrix)", "float64", "array"),
        ("np.broadcast_to(2.0, (3, 5))", "float64", "array"),
        ("torch.full((3, 5), 2.0, requires_grad=True)", "float32", "tensor"),
        ("torch.full((5, 3), 2.0).T", "float32", "tensor"),
        ("torch.full((3, 5), 2.0, dtype=torch.bfloat16)", "float32", "tensor"),
        ("torch.full((3, 5), 2.0, dtype=torch.float16)", "float16", "tensor"),
        ("torch.nn.Parameter(torch.full((3, 5), 2.0))", "float32", "tensor"),
        ("torch.full((3, 5), 2.0 + 0j).conj()", "complex64", "tensor"),
        ("[[2.0] * 5] * 3", "float64", "list"),
        ("[[2] * 5, [2] * 5, [np.float32(2)] * 5]", "float64", "list"),
        ("[(2, 2, 2, 2, 2)] * 3", "int64", "list"),
    ],
)
def test_a_rectangular_block_of_numbers_is_one_array(run_one, expression, dtype, source):
    value = sole(returned(run_one, expression))
    assert (value.array.shape, value.array.dtype, value.source) == ((3, 5), dtype, source)
    expected = True if dtype == "bool" else 2
    assert (value.array == expected).all()


@pytest.mark.parametrize(
    ("expression", "dtype", "number"),
    [
        ("True", "bool", True),
        ("7", "int64", 7),
        ("-2**63", "int64", -(2**63)),
        ("2**70", "float64", 2.0**70),
        ("0.5", "float64", 0.5),
        ("1j", "complex128", 1j),
        ("np.float32(0.5)", "float32", 0.5),
        ("np.int8(3)", "int8", 3),
    ],
)
def test_a_number_is_an_array_without_axes(run_one, expression, dtype, number):
    value = sole(returned(run_one, expression))
    assert (value.array.shape, value.array.dtype, value.source) == ((), dtype, "number")
    assert value.array == number


def test_members_of_containers_are_found_by_their_place(run_one):
    answer = returned(run_one, "np.ones(2), {'Z': [torch.ones(3), 5], 'w': (1, [2, 3])}")
    assert answer.failure is None
    assert [(value.path, value.array.shape) for value in answer.values] == [
        ((0,), (2,)),
        ((1, "Z", 0), (3,)),
        ((1, "Z", 1), ()),
        ((1, "w", 0), ()),
        ((1, "w", 1), (2,)),
    ]


def test_a_ragged_list_of_numbers_is_taken_member_by_member(run_one):
    answer = returned(run_one, "[[1, 2], [3]]")
    assert [(value.path, value.array.tolist()) for value in answer.values] == [
        ((0,), [1, 2]),
        ((1,), [3]),
    ]


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("None", "NoneType"),
        ("'text'", "str"),
        ("(x for x in [1])", "generator"),
        ("lambda: 1", "function"),
        ("object()", "object"),
        ("{1: 2}", "dict with a key of type int"),
        ("np.array([object()])", "ndarray of dtype object"),
        ("np.array(['a'])", "ndarray of dtype <U1"),
        ("torch.eye(3).to_sparse()", "Tensor of layout torch.sparse_coo"),
        ("torch.ones(2, device='meta')", "Tensor of torch.float32 on meta"),
        ("10**400", "int too large for float64"),
        ("[[[[[None]]]]]", "list"),
        ("[1, None]", "NoneType"),
    ],
)
def test_what_is_no_number_is_named_by_its_type(run_one, expression, named):
    failure = returned(run_one, expression).failure
    assert failure is not None
    assert (failure.outcome, failure.detail) == (Outcome.WRONG_TYPE, named)


def test_a_list_that_contains_itself_is_refused(run_one):
    failure = run_one("def f():\n    a = []\n    a.append(a)\n    return a\n").failure
    assert failure.outcome is Outcome.WRONG_TYPE


@pytest.mark.parametrize(
    ("expression", "limit"),
    [
        ("np.zeros((1 << 20) + 1, np.uint8)", "1 MB"),
        ("np.broadcast_to(0.0, (10**9, 10**9))", "1 MB"),
        ("torch.zeros(1).expand(10**12)", "1 MB"),
        ("[np.zeros(1 << 19, np.uint8)] * 3", "1 MB"),
        ("[np.zeros(1)] * 65", "64 arrays"),
        ("[np.zeros(1)] * 10**6", "64 arrays"),
    ],
)
def test_more_than_the_output_limit_is_refused_with_the_limit(run_one, expression, limit):
    text = f"import numpy as np, torch\ndef f():\n    return {expression}\n"
    failure = run_one(text, output_mb=1).failure
    assert (failure.outcome, failure.limit) == (Outcome.OUTPUT_TOO_LARGE, limit)


def test_sixty_four_arrays_are_taken(run_one):
    answer = returned(run_one, "[np.zeros(1)] * 64")
    assert len(answer.values) == 64


def test_lying_subclasses_are_stripped_to_their_numbers(run_one):
    setup = """
class Array(np.ndarray):
    def __eq__(self, other): return True
    def __array_function__(self, *a, **k): return True
    def __array_ufunc__(self, *a, **k): return True
    def astype(self, *a, **k): return 'lie'
class Tensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None): return True
"""
    array = sole(returned(run_one, "np.full(3, 5.0).view(Array)", setup)).array
    tensor = sole(returned(run_one, "torch.full((3,), 5.0).as_subclass(Tensor)", setup)).array
    assert type(array) is np.ndarray
    assert array.tolist() == tensor.tolist() == [5.0] * 3


def test_an_object_that_only_claims_to_be_an_array_is_refused(run_one):
    setup = """
class Claim:
    __class__ = np.ndarray
    dtype = np.dtype('f8'); shape = (2,); nbytes = 16
    def __array__(self, *a, **k): return np.zeros(2)
"""
    failure = returned(run_one, "Claim()", setup).failure
    assert (failure.outcome, failure.detail) == (Outcome.WRONG_TYPE, "Claim")


def test_a_reused_output_buffer_does_not_change_an_earlier_answer(run):
    text = """
        import numpy as np
        buffer = np.zeros(3)
        def f(x):
            buffer[:] = x
            return buffer
    """
    answers = run(text, Call("f", (2,)), Call("f", (3,)))
    assert [answer.values[0].array[0] for answer in answers] == [2.0, 3.0]


def test_values_cannot_be_written_to(run_one):
    value = sole(returned(run_one, "np.zeros(3)"))
    with pytest.raises(ValueError, match="read-only"):
        value.array[0] = 1


def test_special_floats_arrive_bit_for_bit(run_one):
    numbers = np.array([np.nan, -0.0, np.inf, -np.inf, 5e-324])
    value = sole(run_one("def f(x):\n    return x\n", numbers))
    assert value.array.tobytes() == numbers.tobytes()
