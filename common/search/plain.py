"""Plain data: queries, values and constructors' arguments as JSON holds them."""

import functools
import hashlib
import inspect
from dataclasses import fields, is_dataclass

import numpy as np

LONG = 64
"""Arrays of more elements stand in the settings by shape and hash."""


def plain(value):
    """Return a query or a value as JSON holds it; floats survive bit for bit.

    Arrays and tuples become lists, dataclasses mappings.
    """
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def constructor_settings(cls, args, options):
    """Return the arguments of a constructor by name, defaults included, as plain data.

    Two constructions with the same settings do the same; anything they are told apart by must be
    seen here. None if the arguments do not fit, which the constructor itself will say.
    """
    signature = _signature(cls.__init__)
    try:
        bound = signature.bind(None, *args, **options)
    except TypeError:
        return None
    bound.apply_defaults()
    given, found = dict(list(bound.arguments.items())[1:]), {}
    for name, value in given.items():
        keyword = signature.parameters[name].kind
        found |= value if keyword is inspect.Parameter.VAR_KEYWORD else {name: value}
    return {name: described(value) for name, value in found.items()}


_signature = functools.cache(inspect.signature)


def described(value):
    """Return what tells a setting from another, as plain data that is short."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.size <= LONG and value.dtype.kind in "fiub":
            return value.tolist()
        return {"array": list(value.shape), "hash": _digest(np.ascontiguousarray(value).tobytes())}
    if isinstance(value, np.random.Generator):
        return {"generator": _digest(repr(value.bit_generator.state).encode())}
    if isinstance(value, dict):
        return {str(name): described(item) for name, item in value.items()}
    if isinstance(value, list | tuple | range):
        return [described(item) for item in value]
    return _described_object(value)


def _described_object(value):
    if isinstance(value, functools.partial):
        return {
            "function": described(value.func),
            "arguments": described([*value.args, value.keywords]),
        }
    if isinstance(value, type):
        return value.__qualname__
    if inspect.ismethod(value):
        return {"method": value.__name__, "of": described(value.__self__)}
    if code := getattr(value, "__code__", None):
        own = [cell.cell_contents for cell in value.__closure__ or ()]
        own += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        text = repr((code.co_code, code.co_names, [c for c in code.co_consts if not _is_code(c)]))
        return {"function": value.__qualname__, "hash": _digest(text.encode()),
                "with": described(own)}  # fmt: skip
    name = type(value).__qualname__
    for method in ("settings", "get_params"):  # of this package's classes, of scikit-learn's
        if callable(found := getattr(value, method, None)):
            return {"class": name, **described(found())}
    state = getattr(value, "__dict__", None)
    return {"class": name, **described(state)} if state else {"class": name, "value": repr(value)}


def _is_code(constant):
    return hasattr(constant, "co_code")


def _digest(data):
    return hashlib.sha256(data).hexdigest()[:16]
