"""Names and typed settings: what a user writes is checked against the dataclass it fills."""

import dataclasses
import functools
import math
import types
import typing

import yaml

from fivebo.common.names import check_name


@functools.cache
def field_types(record):
    """Return the settings of a dataclass as a mapping of field name to annotation."""
    hints = typing.get_type_hints(record)
    return {f.name: hints[f.name] for f in dataclasses.fields(record) if f.init}


def typed_settings(record, values, where):
    """Check settings from YAML against a dataclass.

    Parameters
    ----------
    record : type
        The dataclass that the settings fill.
    values : mapping
        Setting name to value, as YAML gives them.
    where : str
        Place of the settings in their file, the start of every message.

    Returns
    -------
    dict
        The same settings; lists have become tuples and integers floats where the field says so.

    Raises
    ------
    ValueError
        A name that is no field, a value of another type, or one that the dataclass refuses.
    """
    hints = field_types(record)
    settings = {}
    for name, value in values.items():
        check_name("setting", name, hints, where)
        settings[name] = _converted(value, hints[name], None, f"{where}.{name}")
    try:
        record(**settings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from error
    return settings


def parse_setting(text, records):
    """Read one `key=value` of a command line with the type that the field of a dataclass has.

    Parameters
    ----------
    text : str
        For example "eta=0.05"; the value is YAML, so tuples are written [1, 2].
    records : sequence of type
        The dataclasses that may hold the setting, the first that does wins.

    Returns
    -------
    tuple of (str, object)

    Raises
    ------
    ValueError
        The text has no "=", the name is no field, or the value has another type.
    """
    name, equals, raw = text.partition("=")
    if not equals or not name:
        raise ValueError(f"--set {text}: expected key=value, for example --set eta=0.05")
    hints = {key: h for record in reversed(records) for key, h in field_types(record).items()}
    check_name("setting", name, hints, "--set")
    try:
        value = yaml.safe_load(raw)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"--set {name}: {raw!r} is not a valid value: {reason}") from error
    return name, _converted(value, hints[name], raw, f"--set {name}")


def _converted(value, hint, raw, where):
    """Return `value` with the type of the annotation; `raw` is its text on a command line."""
    origin, options = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        chosen = raw if raw in options else value
        check_name("value", chosen, options, where)
        return chosen
    if origin in (typing.Union, types.UnionType):
        return _first_that_fits(value, options, raw, where)
    if hint is tuple or origin is tuple:
        return _converted_tuple(value, options, where)
    if hint is float:
        return _converted_float(value, raw, where)
    if hint is str:
        value = value if raw is None else raw
    if hint in (int, bool, str) and type(value) is not hint:
        raise ValueError(f"{where}: expected {_described(hint)}, got {value!r}")
    if hint is type(None) and value is not None:
        raise ValueError(f"{where}: expected null, got {value!r}")
    return value


def _converted_float(value, raw, where):
    """Return a float; YAML reads 1e-3 as text, which only a command line may mean as a number."""
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            raise ValueError(f"{where}: expected a number, got {value!r}") from None
        if raw is None:
            raise ValueError(f"{where}: YAML reads {value} as text; write {number!r} or 1.0e-3")
        value = number
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ValueError(f"{where}: expected a number, got {value!r}")
    return float(value)


def _converted_tuple(value, options, where):
    """Return a tuple, its entries converted; `tuple[float, ...]` and fixed lengths are known."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"{where}: expected a list such as [1, 2], got {value!r}")
    if not options:
        return tuple(value)
    entry_types = options
    if len(options) == 2 and options[1] is Ellipsis:
        entry_types = (options[0],) * len(value)
    if len(value) != len(entry_types):
        raise ValueError(f"{where}: expected {len(entry_types)} entries, got {value!r}")
    pairs = enumerate(zip(value, entry_types, strict=True))
    return tuple(_converted(v, hint, None, f"{where}[{i}]") for i, (v, hint) in pairs)


def _first_that_fits(value, options, raw, where):
    """Return the value converted by the first member of a union that takes it."""
    errors = []
    for hint in sorted(options, key=lambda h: h is str):
        try:
            return _converted(value, hint, raw, where)
        except ValueError as error:
            errors.append(str(error))
    raise ValueError(errors[0])


def _described(hint):
    return {int: "an integer", bool: "true or false", str: "text"}[hint]
