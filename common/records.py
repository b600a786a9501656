"""The two result tables: their columns, the closed list of metrics, and the laws they obey."""

from dataclasses import dataclass

KEYS = ["paper", "experiment", "problem", "method", "variant", "seed"]
RUN_COLUMNS = [
    *KEYS,
    *("direction", "horizon", "n_init", "noise_std", "optimum", "params", "status", "error"),
    *("wall_s", "code", "started", "blas_threads"),
]
TRACE_COLUMNS = [*KEYS, "step", "n_evals", "metric", "value"]


@dataclass(frozen=True)
class Metric:
    """One measured quantity.

    Parameters
    ----------
    symbol : str
        The paper's symbol, in mathtext.
    direction : {"min", "max", "none"}
        What is better; "none" for a quantity that is only described.
    definition : str
        One sentence.
    monotone : int, optional
        -1 if the metric never rises along a run, +1 if it never falls, 0 if it may do either.
    regret : bool, optional
        A simple regret: never below -1e-9.
    timing : bool, optional
        A measurement of the machine: the one kind of value that two runs of a seed do not share.
    """

    symbol: str
    direction: str
    definition: str
    monotone: int = 0
    regret: bool = False
    timing: bool = False


METRICS = {
    "instant_regret": Metric(
        r"$r_t$",
        "min",
        "s_lambda_t(f(x*_lambda_t)) - s_lambda_t(f(x_t)) at the sampled weight, noise-free f",
        regret=True,
    ),
    "cumulative_regret": Metric(
        r"$R_C(t)$", "min", "sum of the instantaneous regrets", monotone=1, regret=True
    ),
    "average_regret": Metric(r"$R_C(t)/t$", "min", "time-averaged cumulative regret", regret=True),
    "bayes_regret": Metric(
        r"$R_B(t)$",
        "min",
        "mean over a fixed set of weights of max_x s(f(x)) - max_{s<=t} s(f(x_s))",
        monotone=-1,
        regret=True,
    ),
    "dictionary_size": Metric(r"$m_t$", "none", "points in the Nystrom dictionary, with repeats"),
    "dictionary_share": Metric(r"$m_t/t$", "min", "share of the queries kept in the dictionary"),
    "theorem1_ratio": Metric(
        r"$\max_x \|f-\mu_t\|_2 / (\beta_t \|\Gamma_t\|^{1/2})$",
        "min",
        "largest error over the confidence width of the multi-task concentration inequality",
    ),
    "instant_regret_ratio": Metric(
        r"$r_t / (2 L_{\lambda_t} \beta_{t-1} \|\Gamma_{t-1}(x_t,x_t)\|^{1/2})$",
        "min",
        "instantaneous regret over the bound that the regret theorems sum",
    ),
    "theorem2_ratio": Metric(
        r"$R_C(t) / \mathrm{bound}(t)$",
        "min",
        "cumulative regret over Theorem 2's bound with the realised information gain, which is "
        "below the theorem's own",
    ),
    "theorem3_regret_ratio": Metric(
        r"$R_C(t) / \mathrm{bound}(t)$",
        "min",
        "cumulative regret over Theorem 3's bound with the realised information gain",
    ),
    "theorem3_size_ratio": Metric(
        r"$m_t / (3 \rho q (1+\kappa/\eta) \sum_s \|\Gamma_s(x_s,x_s)\|)$",
        "min",
        "dictionary size over Theorem 3's bound, exact posterior at the same queries",
    ),
    "lemma5_ratio": Metric(
        r"$\max\{\Gamma_t/\Gamma_{t-1},\ \Gamma_{t-1}/((1+\kappa/\eta)\Gamma_t)\}$",
        "min",
        "largest violation ratio of both Loewner orders of Lemma 5 over the domain",
    ),
    "lemma10_ratio": Metric(
        r"$\max\{\tilde\Gamma_t/(\rho\Gamma_t),\ \Gamma_t/(\rho\tilde\Gamma_t)\}$",
        "min",
        "largest violation ratio of Lemma 10 over the domain, rho at the realised accuracy",
    ),
    "realised_epsilon": Metric(
        r"$\varepsilon_t$", "min", "accuracy of the drawn dictionary in the sense of Lemma 7"
    ),
    "round_seconds": Metric(
        "time per round",
        "min",
        "wall time of one ask and tell in seconds, median since the last recorded round",
        timing=True,
    ),
    "refit_seconds": Metric(
        "time per round",
        "min",
        "wall time of the posterior of all rounds computed anew, in seconds, as the paper costs it",
        timing=True,
    ),
    # mvabo: regret, sets and verdicts
    "regret": Metric(
        r"$G(x^*)-G(\hat x_t)$",
        "min",
        "simple regret of the recommended design in G = alpha F_1 + (1 - alpha) F_2",
        regret=True,
    ),
    "hv_gap": Metric(
        r"$\mathrm{HV}-\widehat{\mathrm{HV}}_t$",
        "min",
        "hypervolume of the true Pareto set less that of the estimated one, both by true values",
        regret=True,
    ),
    "stopped": Metric(
        "share stopped", "max", "1 from the first step on at which the stopping rule held", +1
    ),
    "undecided": Metric(
        r"$(|M_t|+|U_t|)/|X|$", "min", "share of the designs that keep the search from stopping"
    ),
    "pareto_error": Metric(
        r"$s_t$",
        "min",
        "smallest s for which the estimated set is an (s eps)-accurate Pareto set, at every step",
    ),
    "constrained_regret": Metric(
        r"$F_1(x^*)-F_1(\hat x_t)$",
        "min",
        "shortfall in F_1 from the best feasible design; the worst design's if no output",
        regret=True,
    ),
    "constraint_excess": Metric(
        r"$h-F_2(\hat x_t)$", "min", "violation of F_2 >= h by the output, 0 if none", regret=True
    ),
    "infeasible": Metric(
        "share declared infeasible", "none", "1 where the data prove that no design is feasible"
    ),
    # mvabo: certificates, left side over right side
    "event2_ratio": Metric(
        r"$|f-\mu_{t-1}|/(\beta_t^{1/2}\sigma_{t-1})$",
        "min",
        "largest over all (x, w) of the error over the confidence width, Eq. (2)",
    ),
    "inclusion_ratio": Metric(
        r"$F_i \in [l^{(F_i)}, u^{(F_i)}]$",
        "min",
        "largest distance of F_1 or F_2 from the middle of its interval over half the width",
    ),
    "gap_ratio": Metric(
        r"$(G(x^*)-G(\hat x_t))/(\min u-\max l)$",
        "min",
        "regret of the own-step recommendation over the certificate of an early stop",
    ),
    "width_ratio": Metric(
        r"$\sum_t (u_t-l_t)(x_t)/\mathrm{Lemma\ A.1}$",
        "min",
        "summed interval widths at the chosen designs over Lemma A.1's bound",
    ),
    "expectation_ratio": Metric(
        r"$\sum_t \int \sigma p/(2\sum_t\sigma+8\ln(18/\delta))$",
        "min",
        "summed expectations of sigma, or of sigma^2 if larger, over the bound of Lemma A.2",
    ),
    "variance_ratio": Metric(
        r"$\sum_t \sigma_{t-1}^2(z_t)/\mathrm{Lemma\ A.3}$",
        "min",
        "summed variances at the observed points over the realised bound of Lemma A.3",
    ),
    "stopping_ratio": Metric(
        r"$T^{-1}\sum_t (u_t-l_t)(x_t)/\mathrm{bound}(T)$",
        "min",
        "average width over the stopping theorems' left side with the realised information gain",
    ),
    "accuracy_ratio": Metric(
        r"$s_t \leq 1$",
        "min",
        "pareto_error, or the constrained output's error over eps, once the search has stopped",
    ),
}
"""The closed list: a trace may hold these metrics and no other."""


STEP_GRIDS = ("all", "log")


def record_steps(horizon, how):
    """Return the steps a trace keeps, as a tuple of increasing ints from 1 to `horizon`.

    Parameters
    ----------
    horizon : int
    how : {"all", "log"}
        Every step, or about 40 log-spaced ones with the first and the last.
    """
    if how == "all":
        return tuple(range(1, horizon + 1))
    if how == "log":
        grid = {round(horizon ** (i / 40)) for i in range(41)}
        return tuple(sorted(grid))
    raise ValueError(f"record_steps must be one of {', '.join(STEP_GRIDS)}, got {how!r}")


def check_laws(runs, trace, expected=None):
    """Raise ValueError listing every law that the two tables break.

    Parameters
    ----------
    runs, trace : DataFrame
        Tables with the columns `RUN_COLUMNS` and `TRACE_COLUMNS`.
    expected : iterable of tuple, optional
        Keys (in the order of `KEYS`) that must be present.
    """
    broken = [
        f"{name} table has columns {list(frame.columns)}, must have {columns}"
        for name, frame, columns in (("runs", runs, RUN_COLUMNS), ("trace", trace, TRACE_COLUMNS))
        if list(frame.columns) != columns
    ]
    if not broken:
        broken = list(_run_laws(runs, expected))
        if not runs.duplicated(KEYS).any():
            broken += _trace_laws(runs, trace)
    if broken:
        raise ValueError("results break the laws of the tables:\n- " + "\n- ".join(broken))


def _run_laws(runs, expected):
    if runs.duplicated(KEYS).any():
        yield f"run keys repeat: {_first_key(runs[runs.duplicated(KEYS)])}"
    if expected is not None:
        missing = set(expected) - set(runs[KEYS].itertuples(index=False, name=None))
        if missing:
            yield f"{len(missing)} configured run(s) missing, first {min(missing)}"
    if runs["code"].nunique() > 1:
        yield f"more than one code version: {sorted(runs['code'].unique())}"


def _trace_laws(runs, trace):
    unknown = set(trace["metric"]) - set(METRICS)
    if unknown:
        yield f"metrics outside the closed list: {sorted(unknown)}"
        return
    cell = [*KEYS, "metric"]
    if trace.duplicated([*cell, "step"]).any():
        yield f"trace keys repeat: {_first_key(trace[trace.duplicated([*cell, 'step'])])}"
        return
    failed = runs.loc[runs["status"] == "failed", KEYS]
    if len(failed) and len(trace.merge(failed, on=KEYS)):
        yield "a failed run has trace rows"
    yield from _step_laws(runs, trace)
    values = trace["value"].to_numpy()
    lowest = trace["metric"].map(
        {name: -1e-9 if m.regret else -float("inf") for name, m in METRICS.items()}
    )
    if (values < lowest.to_numpy()).any():
        yield f"negative regret: {_first_key(trace[values < lowest.to_numpy()])}"
    for name, metric in METRICS.items():
        part = trace[trace["metric"] == name]
        if metric.monotone and len(part):
            change = part.sort_values([*KEYS, "step"]).groupby(KEYS, sort=False)["value"].diff()
            if (metric.monotone * change < -1e-9).any():
                yield f"{name} is not monotone"


def _step_laws(runs, trace):
    """All metrics of a finished run hold the same steps: all of them, or the log-spaced ones."""
    horizons = runs[runs["status"] == "ok"].set_index(KEYS)["horizon"]
    recorded = trace.groupby([*KEYS, "metric"], sort=False)["step"].agg(tuple)
    allowed = {h: {record_steps(h, how) for how in STEP_GRIDS} for h in horizons.unique()}
    for cell, steps in recorded.items():
        horizon = horizons.get(cell[:-1])
        if horizon is None or tuple(sorted(steps)) not in allowed[horizon]:
            yield f"steps not contiguous: {cell} has {len(steps)} of horizon {horizon}"
            return
    if missing := set(horizons.index) - {cell[:-1] for cell in recorded.index}:
        yield f"finished runs without trace: {min(missing)}"


def _first_key(frame):
    return tuple(frame.iloc[0][KEYS])
