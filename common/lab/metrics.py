"""The closed list of metrics: what a trace may hold, with symbol, direction and definition."""

from dataclasses import dataclass


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
    "own_bayes_ratio": Metric(
        r"$t \bar R_B(t) / R_C(t)$",
        "min",
        "Bayes regret at the weights that the run drew so far over the average regret",
    ),
    "bayes_ratio": Metric(
        r"$R_B(t) / (R_C(t)/t + 2 W_t)$",
        "min",
        "Bayes regret over the average regret plus twice the cost of moving the weights drawn so "
        "far to the fixed ones",
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
    "aggregated_regret": Metric(
        r"$R_N$",
        "min",
        "max f minus the average reward of the recommended cell, noise-free f",
        regret=True,
    ),
    "point_regret": Metric(
        r"$\min_{x \in C_N} \hat R_N(x)$",
        "min",
        "max f minus the largest reward among the representative points of the recommended cell",
        regret=True,
    ),
    "recommended_depth": Metric(r"$h_N$", "none", "depth of the recommended cell"),
    "n_leaves": Metric(r"$|\mathcal{L}_t|$", "none", "leaves of the tree", monotone=1),
    "pulled_depth": Metric(r"$h_t$", "none", "depth of the pulled cell"),
    "pulled_index": Metric(r"$i_t$", "none", "index of the pulled cell within its depth"),
    "reward": Metric(r"$r_t$", "none", "observed noisy average reward of the pulled cell"),
    "coverage_ratio": Metric(
        r"$\max_{h,i} |\bar f - \mu| / CI$",
        "min",
        "largest error of a node's posterior mean over its confidence width, all nodes of the tree",
    ),
    "selected_gap_ratio": Metric(
        r"$(f^* - \bar f) / (\delta(h) + 2 CI)$",
        "min",
        "loss of the selected node over the bound that its selection implies",
    ),
    "expanded_gap_ratio": Metric(
        r"$(f^* - \bar f) / (3 \delta(h))$",
        "min",
        "loss of the node expanded in the round over 3 delta(h)",
    ),
    "pulls_ratio": Metric(
        r"$T_{h,i} / \lceil \beta_t \sigma^2 / \delta(h)^2 \rceil$",
        "min",
        "pulls of the selected node over the bound on pulls before expansion",
    ),
    "aggregated_regret_ratio": Metric(
        r"$R_t / \mathrm{bound}(t)$",
        "min",
        "aggregated regret over the bound from the deepest expanded node",
    ),
    "depth_ratio": Metric(
        r"$(1 + H_{\mathrm{bound}}(t)) / (1 + H_t)$",
        "min",
        "depth guaranteed by the budget argument over the depth reached, both counted from 1",
    ),
    "smoothness_ratio": Metric(
        r"$\sup L \ell(x_{h,i}, x) / \delta(h)$",
        "min",
        "true variation of f within cells over delta(h), the largest over depths",
    ),
    # classify_dfo: what the batches found, and what the classifiers cut
    "gap": Metric(
        r"$\min_{s \leq t, i} f(X^{(s)}_i) - \min f$",
        "min",
        "best value measured so far minus the smallest of all actions",
        monotone=-1,
        regret=True,
    ),
    "best_value": Metric(
        r"$\min_{s \leq t, i} f(X^{(s)}_i)$", "min", "best value measured so far", monotone=-1
    ),
    "last_batch_gap": Metric(
        r"$f(X^{(T)}_{i^*}) - \min f$",
        "min",
        "best value of the last batch, the algorithm's output, minus the smallest of all actions",
        regret=True,
    ),
    "rounds_to_optimum": Metric(
        r"$t^*$",
        "min",
        "batch that first held a minimiser; at the end of a run without one, a batch beyond it",
    ),
    "cut_coverage": Metric(
        r"$\sum_x h^{(t)}(x) p^{(t-1)}(x)$", "none", "mass that the classifier downweights"
    ),
    "false_cut": Metric(
        r"$\sum_{f(x) \leq \alpha} h^{(t)}(x) p^{(t-1)}(x)$",
        "min",
        "downweighted mass of actions at or below the threshold",
    ),
    "css_difference": Metric(
        r"$P_0(h^{(t)} \neq h_{CSS})$",
        "min",
        "share of all actions that exact consistent selective classification decides otherwise",
    ),
    "optimum_cuts": Metric(
        r"$M_t(x^*)$", "min", "how often the least cut minimiser was downweighted", monotone=1
    ),
    "optimum_mass": Metric(r"$p^{(t)}(x^*)$", "max", "mass of the minimisers"),
    "label_error": Metric(
        r"$P(\hat Z \neq Z)$",
        "min",
        "share of training labels that values would have set otherwise",
    ),
    "n_comparisons": Metric(
        r"$\sum_s m_s$", "none", "pairwise comparisons made so far", monotone=1
    ),
    "theorem1_mass_ratio": Metric(
        r"$\max_x \mathrm{bound}(x) / p^{(t)}(x)$",
        "min",
        "largest over all actions of Theorem 1's lower bound over the mass, least coverage so far",
    ),
    "corollary1_mass_ratio": Metric(
        r"$\max_x \mathrm{bound}(x) / p^{(t)}(x)$",
        "min",
        "the same for Corollary 1, over the actions for which it sets the eta of the run",
    ),
    "corollary1_share_ratio": Metric(
        r"$e^{q_{\min} - q_t(x)}$",
        "min",
        "exponential of Corollary 1's least mistake share minus that of the same actions, largest",
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
    "simple_regret": Metric(
        r"$r_t$",
        "min",
        "f* - max_{s<=t} f(x_s), noise-free f at the queried points, initial ones included",
        monotone=-1,
        regret=True,
    ),
    "best_accuracy": Metric("accuracy", "max", "largest validation accuracy so far", monotone=1),
    "best_error": Metric("error", "min", "1 - largest validation accuracy so far", monotone=-1),
    "member_weight": Metric(
        r"$w_t^{m^*}$", "max", "posterior weight of the ensemble member that f was drawn from"
    ),
    "simulated_time": Metric(
        "time", "none", "simulated time in mean evaluation times, parallel workers", monotone=1
    ),
    "ensemble_regret_ratio": Metric(
        r"$R(t) / \mathrm{bound}(t)$",
        "min",
        "cumulative regret on a draw of the ensemble prior over the bound on its expectation",
    ),
    **{
        f"weight_{m}": Metric(f"$w_t^{{{m}}}$", "none", f"posterior weight of component {m}")
        for m in range(1, 12)
    },
}
"""The closed list: a trace may hold these metrics and no other."""
