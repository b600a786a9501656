"""Plain data: queries, values and constructors' arguments as JSON holds them."""

import copyreg
import functools
import hashlib
import inspect
from dataclasses import fields, is_dataclass

import numpy as np

DEEP = 40
"""What lies deeper inside an object tells no settings apart."""

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
    if value is None or isinstance(value, bool | int | float | str):
        return value
    array = value if hasattr(value, "tolist") else np.asarray(value)  # a table, a range
    if isinstance(array, np.longdouble) or getattr(array, "dtype", None) == np.longdouble:
        array = array.astype(float)
    return array.tolist()


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


def described(value, within=()):
    """Return what tells a setting from another, as plain data that is short.

    `within` are the objects that it is a part of: one that holds itself ends there. The same
    value is described alike in another process, so no address of memory and no order of a set
    stands in it.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return described(plain(value), within)
    if isinstance(value, bytes | bytearray):
        return {"bytes": len(value), "hash": _digest(bytes(value))}
    if any(value is other for other in within) or len(within) > DEEP:
        return {"class": type(value).__qualname__, "within": "itself"}
    part = functools.partial(described, within=(*within, value))
    if hasattr(value, "__array__") and not isinstance(value, np.ndarray):
        value = np.asarray(value)  # a table
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        if value.size <= LONG:
            return value.tolist()
        return {"array": list(value.shape), "hash": _digest(np.ascontiguousarray(value).tobytes())}
    if isinstance(value, np.ndarray):
        return {"array": list(value.shape), "elements": part(value.ravel().tolist())}
    if isinstance(value, np.random.Generator):  # what it spawns depends on its seed sequence
        state = value.bit_generator.state, getattr(value.bit_generator.seed_seq, "state", None)
        return {"generator": _digest(repr(state).encode())}
    if isinstance(value, dict):
        return {str(name): part(item) for name, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((part(item) for item in value), key=repr)
    if isinstance(value, list | tuple | range):
        found = [part(item) for item in value]
        if len(found) <= LONG:
            return found
        return {"list": len(found), "hash": _digest(repr(found).encode())}
    return _described_function(value, part) or _described_object(value, part)


def _described_function(value, part):
    """Describe what is called by name or has code; None if it is neither."""
    if isinstance(value, functools.partial):
        return {"function": part(value.func), "arguments": part([*value.args, value.keywords])}
    if isinstance(value, type):
        return value.__qualname__
    if inspect.ismodule(value):
        return value.__name__
    if inspect.ismethod(value):
        return {"method": value.__name__, "of": part(value.__self__)}
    if code := getattr(value, "__code__", None):
        own = [_content(cell) for cell in value.__closure__ or ()]
        own += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        return {"function": value.__qualname__, "hash": _digest(repr(_instructions(code)).encode()),
                "with": [part(item) for item in own]}  # fmt: skip
    if callable(inner := getattr(value, "__wrapped__", None)):  # functools.cache
        return {"function": type(value).__qualname__, "of": part(inner)}
    return None


def _described_object(value, part):
    name = type(value).__qualname__
    for method in ("settings", "get_params"):  # of this package's classes, of scikit-learn's
        if callable(found := getattr(value, method, None)):
            return {"class": name, **part(found())}
    try:
        registered = copyreg.dispatch_table.get(type(value))
        made = registered(value) if registered else value.__reduce_ex__(4)  # as pickle does
    except TypeError:  # a lock, an open file: nothing tells it from another
        return {"class": name}
    if isinstance(made, str):
        return {"class": name, "name": made}
    state, arguments = made[2] if len(made) > 2 else None, made[1]
    items = [list(each) for each in made[3:5] if each is not None]
    if isinstance(state, dict) and len(arguments) < 2 and not items:
        return {"class": name, **part(state)}
    return {"class": name, "made_of": part([*arguments, state, *items])}


def _content(cell):
    """Return what a closure holds; None while it holds nothing."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _instructions(code):
    """Return what a function does, those defined within it as well, without names of files."""
    constants = [_instructions(c) if _is_code(c) else c for c in code.co_consts]
    return code.co_code, code.co_names, constants


def _is_code(constant):
    return hasattr(constant, "co_code")


def _digest(data):
    return hashlib.sha256(data).hexdigest()[:16]
