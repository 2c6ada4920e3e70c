"""Two opinions are worth two only if neither has heard the other."""

import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import reference.modules

TORCH_ORACLES = (
    "scaled_dot_product",
    "nn.MultiheadAttention(",
    "nn.Transformer",
    "nn.LayerNorm",
    "layer_norm(",
)
MODULES = [module.name for module in pkgutil.iter_modules(reference.modules.__path__)]


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [
        ("reference.ops", ["torch", "reference.modules", "app"]),
        ("reference.modules", ["reference.ops", "app"]),
        ("reference.shapes", ["torch", "numpy"]),
        ("reference.counts", ["torch", "numpy"]),
    ],
)
def test_a_fresh_interpreter_loads_one_without_the_other(
    package: str, forbidden: list[str]
) -> None:
    code = f"""
import pkgutil, sys
from importlib import import_module
package = import_module({package!r})
for module in pkgutil.iter_modules(getattr(package, "__path__", [])):
    import_module(f"{package}.{{module.name}}")
print([name for name in {forbidden} if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stderr


@pytest.mark.parametrize("name", MODULES)
def test_the_modules_use_no_attention_transformer_or_norm_of_torch(name: str) -> None:
    source = inspect.getsource(import_module(f"reference.modules.{name}"))
    code = source.replace("``torch.nn.MultiheadAttention(D, H)``", "")
    assert [word for word in TORCH_ORACLES if word in code] == []
