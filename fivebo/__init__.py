"""Five papers on Bayesian optimisation and bandits, reproduced on one small core.

In a checkout the packages stand beside this folder (`common/`, `mtbo/`, ...); installed, inside it.
"""

from pathlib import Path

_HERE = Path(__file__).resolve().parent
if not (_HERE / "common").is_dir():
    __path__.append(str(_HERE.parent))
