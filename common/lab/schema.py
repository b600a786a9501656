"""The file experiments.yaml: reads it, checks its structure, and merges defaults and scales."""

import functools
from pathlib import Path

import yaml

from fivebo.common.names import check_name, unknown_name

DEFAULTS = {
    "ours": False,
    "problem_params": {},
    "params": {},
    "variants": {"default": {}},
    "record_steps": "all",
    "seeds_per_job": 10,
    "mem_mb": 1000,
    "runtime_min": 10,
    "published": {},
    "scales": {},
}
"""What an experiment has when neither it nor the file's own defaults say otherwise."""

MERGED = ("problem_params", "params", "published", "scales")
"""Keys that an override changes entry by entry; every other key is replaced as a whole."""


class _UniqueLoader(yaml.CSafeLoader):
    """A YAML loader that refuses a key given twice: the first one would be lost in silence."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = next((key for i, key in enumerate(keys) if key in keys[:i]), None)
        if twice is not None:
            raise yaml.YAMLError(f"line {node.start_mark.line + 1}: key {twice!r} stands twice")
        return super().construct_mapping(node, deep)


def read_source(path, place):
    """Read an experiments.yaml and check its structure.

    Parameters
    ----------
    path : Path
        The file.
    place : str
        How messages name it.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        The file is not valid YAML, or breaks the schema; an unknown key comes with the nearest
        valid one.
    """
    try:
        source = yaml.load(path.read_text(encoding="utf-8"), _UniqueLoader)
    except yaml.YAMLError as error:
        raise ValueError(f"{place}: not valid YAML: {' '.join(str(error).split())}") from error
    _check_structure(source, place)
    return source


@functools.cache
def _schema():
    text = Path(__file__).with_name("experiments.schema.yaml").read_text(encoding="utf-8")
    return yaml.load(text, yaml.CSafeLoader)


def _check_structure(source, place):
    import jsonschema

    errors = list(jsonschema.Draft202012Validator(_schema()).iter_errors(source))
    if not errors:
        return
    error = min(errors, key=lambda e: (len(e.absolute_path), [str(p) for p in e.absolute_path]))
    where = "".join(f"{part}." for part in error.absolute_path)[:-1]
    message = error.message
    if error.validator == "additionalProperties":
        valid = sorted(error.schema["properties"])
        message = unknown_name("key", next(k for k in error.instance if k not in valid), valid)
    raise ValueError(f"{place}: {where + ': ' if where else ''}{message}")


def resolved(source, name, scale):
    """Merge one experiment: built-in defaults, the file's, its own keys, then the scale's.

    Parameters
    ----------
    source : dict
        The file.
    name : str
        Name of the experiment.
    scale : str
        Name of the scale.

    Returns
    -------
    dict
        Keys of an experiment without "scales"; "variants" holds for each variant that the scale
        keeps its complete problem_params, params and methods.
    """
    place = f"{source['paper']}/experiments.yaml: experiments.{name}"
    given = _merged(_merged(DEFAULTS, source.get("defaults", {})), source["experiments"][name])
    missing = [key for key in _schema()["$defs"]["complete"]["required"] if key not in given]
    if missing:
        raise ValueError(f"{place}: missing {', '.join(missing)}")
    sizes = given.pop("scales").get(scale, {})
    shared = {key: given.pop(key) for key in ("problem_params", "params", "methods")}
    variants = given.pop("variants")
    kept = sizes.get("variants", list(variants))
    for variant in kept:
        check_name("variant", variant, variants, f"{place}.scales.{scale}.variants")
    own = {variant: _merged(shared, variants[variant]) for variant in variants if variant in kept}
    return {**given, **sizes, "variants": own}


def _merged(old, new):
    merged = {**old, **new}
    for key in MERGED:
        if key in old and key in new:
            merged[key] = {**old[key], **new[key]}
    for scale in merged.get("scales", {}):
        sizes = (part.get("scales", {}).get(scale, {}) for part in (old, new))
        merged["scales"] = {**merged["scales"], scale: {k: v for s in sizes for k, v in s.items()}}
    return merged
