"""NACA 4-digit airfoils: their outlines as features, and the table of their lift and drag.

XFOIL itself is driven by `classify_dfo.xfoil`. [CDFO] Sec. 4.
"""

from functools import lru_cache

import numpy as np

from fivebo.common.checks import one_of
from fivebo.common.lab.datasets import verify_file

TABLE = "data/bundled/airfoil/naca4_xfoil_re1e6_alpha4.tsv"
"""What XFOIL computed for every airfoil of `series`: naca, status, CL, CD, CDp, CM, transitions."""

THICKNESS = (0.2969, -0.1260, -0.3516, 0.2843)
"""Coefficients of sqrt(x), x, x^2, x^3 of the half thickness."""

TRAILING_EDGES = {"open": -0.1015, "closed": -0.1036}
"""Coefficient of x^4: the second lets both sides meet at x = 1."""


def series():
    """Return the names of the 3,280 airfoils: 40 symmetric ones and 81 cambers by 40 thicknesses.

    Source: [CDFO] Sec. 4 ("all common airfoils"); the list is ASSUMED. Camber without a position
    (m > 0, p = 0) does not exist.
    """
    families = ["00", *(f"{m}{p}" for m in range(1, 10) for p in range(1, 10))]
    return tuple(f"{family}{t:02d}" for family in families for t in range(1, 41))


def check_name(naca):
    """Return a NACA 4-digit name as (m, p, t) in chords, or raise ValueError.

    >>> check_name("2412")
    (0.02, 0.4, 0.12)
    """
    if not isinstance(naca, str) or len(naca) != 4 or not naca.isascii() or not naca.isdigit():
        raise ValueError(f"an airfoil is named by four digits such as '2412', got {naca!r}")
    m, p, t = int(naca[0]) / 100, int(naca[1]) / 10, int(naca[2:]) / 100
    if t == 0:
        raise ValueError(f"airfoil {naca} has no thickness: its last two digits must be 01 to 99")
    if (m > 0) != (p > 0):
        raise ValueError(f"airfoil {naca} needs both camber and its position, or neither (00tt)")
    return m, p, t


def outline(naca, n_stations=51, trailing_edge="open"):
    r"""Return the outline of a NACA 4-digit airfoil in Selig order, shape (2 n - 1, 2).

    .. math::
        y_t = 5t(.2969\sqrt x - .1260x - .3516x^2 + .2843x^3 - .1015x^4), \quad
        (x \mp y_t \sin\theta,\; y_c \pm y_t \cos\theta), \quad \tan\theta = dy_c/dx

    with stations x = (1 - cos b) / 2, b uniform on [0, pi]: from the trailing edge along the upper
    side to the nose, then along the lower side back. Source: Jacobs, Ward and Pinkerton, NACA
    report 460 (1933); [CDFO] Sec. 4 (perimeter in Selig format).

    Parameters
    ----------
    naca : str
        Four digits: camber m in hundredths of the chord, its position p in tenths, thickness.
    n_stations : int, optional
        n, at least 3.
    trailing_edge : {"open", "closed"}, optional

    Raises
    ------
    ValueError
        No such airfoil, or too few stations.
    """
    m, p, t = check_name(naca)
    one_of(trailing_edge, "trailing_edge", TRAILING_EDGES)
    if n_stations < 3:
        raise ValueError(f"n_stations must be at least 3, got {n_stations}")
    x = (1 - np.cos(np.linspace(0, np.pi, n_stations))) / 2
    powers = np.stack([np.sqrt(x), x, x**2, x**3, x**4])
    half = 5 * t * np.array([*THICKNESS, TRAILING_EDGES[trailing_edge]]) @ powers
    camber, slope = mean_line(x, m, p)
    angle = np.arctan(slope)
    upper = np.column_stack([x - half * np.sin(angle), camber + half * np.cos(angle)])
    lower = np.column_stack([x + half * np.sin(angle), camber - half * np.cos(angle)])
    return np.concatenate([upper[::-1], lower[1:]])


def mean_line(x, m, p):
    r"""Return height and slope of the mean line at stations x.

    .. math:: y_c = \frac{m}{p^2}(2px - x^2) \text{ for } x < p, \quad
              \frac{m}{(1-p)^2}(1 - 2p + 2px - x^2) \text{ otherwise}

    Parameters
    ----------
    x : ndarray of shape (n,)
        In chords.
    m, p : float
        Largest height and its place; 0 and 0 give a straight line.
    """
    if m == 0:
        return np.zeros_like(x), np.zeros_like(x)
    scale = m / np.where(x < p, p, 1 - p) ** 2
    height = scale * (np.where(x < p, 0, 1 - 2 * p) + 2 * p * x - x**2)
    return height, 2 * scale * (p - x)


def outline_features(names, n_stations=51, trailing_edge="open"):
    """Return the outlines as rows x, y, x, y, ... of shape (N, 2 (2 n - 1)). [CDFO] Sec. 4."""
    return np.stack([outline(naca, n_stations, trailing_edge).ravel() for naca in names])


@lru_cache(maxsize=1)
def load_table():
    """Return the bundled table as a frame; numbers are NaN where the simulator gave none."""
    import pandas as pd

    path = verify_file(TABLE)
    return pd.read_csv(path, sep="\t", dtype={"naca": str, "status": str})


@lru_cache(maxsize=1)
def load_objective():
    """Return the airfoils' names and f = -(CL / CD), 0 where the simulator failed.

    Source: [CDFO] Sec. 4.

    Returns
    -------
    names : tuple of str
    values : ndarray of shape (3280,), read-only
    """
    table = load_table()
    works = (table["status"] == "ok").to_numpy()
    values = np.where(works, -(table["CL"] / table["CD"]).to_numpy(), 0.0)
    values.setflags(write=False)
    return tuple(table["naca"]), values
