"""Multi-task posteriors against the literal block formulas ([MTBO] Eq. (1), App. A)."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from fivebo.common.gp.posterior import GP
from fivebo.mtbo.blocks import BlockPosterior
from fivebo.mtbo.multitask import ICM, DiagonalKernel, SumKernel, similarity_kernel
from fivebo.mtbo.posteriors import DecoupledPosterior, SpectralPosterior, exact_posterior
from tests.mtbo.oracles import gamma_sum, log_det_gain, mt_posterior

ETA = 0.1


def check_against_oracle(posterior, kernel, X, arms, Y):
    Gamma = gamma_sum(kernel.terms)
    gain = 0.0
    for t, (arm, y) in enumerate(zip(arms, Y, strict=True)):
        gain += posterior.log_det_term(arm)
        posterior.update(arm, y)
        past = X[arms[: t + 1]]
        assert gain == pytest.approx(log_det_gain(Gamma, past, ETA), rel=1e-8)
        for i in (0, 3, 8):
            mean, block = mt_posterior(Gamma, past, Y[: t + 1], ETA, X[i])
            np.testing.assert_allclose(posterior.mean[i], mean, rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(posterior.blocks()[i], block, atol=1e-9)
            assert posterior.norm[i] == pytest.approx(np.linalg.norm(block, 2), abs=1e-9)
            np.testing.assert_allclose(posterior.task_variances()[i], np.diag(block), atol=1e-9)


@pytest.mark.paper(
    "mtbo",
    "eq-1",
    "s3-mean",
    "s3-ridge",
    "s3-mtgp",
    "s2-mt-kernel",
    "s3-cost-mt-kb",
    "s2-sum",
)
def test_block_form_is_the_papers(kernel, history):
    X, arms, Y = history
    check_against_oracle(BlockPosterior(kernel, ETA, X), kernel, X, arms, Y)


FORMS = [DecoupledPosterior, SpectralPosterior]


@pytest.mark.paper("mtbo", "eq-3", "eq-4", "eq-5", "s3-icm", "s3-cost-icm", "eq-6")
@pytest.mark.parametrize("form", FORMS)
def test_fast_paths_equal_the_block_form(kernel, history, form):
    X, arms, Y = history
    if kernel.components() is None:
        assert isinstance(exact_posterior(kernel, ETA, X), BlockPosterior)
        return
    shared = len({id(part.kernel) for part in kernel.components()}) == 1
    if form is DecoupledPosterior or shared:
        check_against_oracle(form(kernel, ETA, X), kernel, X, arms, Y)


def test_the_form_follows_from_kernel_and_candidates():
    small, large = np.arange(400.0)[:, None], np.arange(401.0)[:, None]
    icm, own = ICM(RBF(0.3), np.eye(2)), DiagonalKernel([RBF(0.3), RBF(0.1)])
    assert type(exact_posterior(icm, ETA, small)) is SpectralPosterior
    assert type(exact_posterior(icm, ETA, large)) is DecoupledPosterior
    assert type(exact_posterior(own, ETA, small)) is DecoupledPosterior


def test_all_rounds_at_once_equal_one_by_one(kernel, history):
    X, arms, Y = history
    decouples = kernel.components() is not None
    for form in (BlockPosterior, exact_posterior, *([DecoupledPosterior] if decouples else [])):
        one, batch = form(kernel, ETA, X), form(kernel, ETA, X)
        batch.update(arms, Y)
        for arm, y in zip(arms, Y, strict=True):
            one.update(arm, y)
        np.testing.assert_allclose(one.mean, batch.mean, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(one.blocks(), batch.blocks(), atol=1e-11)


@pytest.mark.paper("mtbo", "eq-6")
def test_the_norm_is_attained_by_the_largest_eigenvalue(history):
    X, arms, Y = history
    A = np.random.default_rng(1).random((5, 5))
    for form in FORMS:
        posterior = form(ICM(RBF(0.3), A.T @ A), ETA, X)
        for arm in arms:
            posterior.update(arm, np.ones(5))
            assert (posterior.variances.argmax(1) == posterior.variances.shape[1] - 1).all()


@pytest.mark.paper("mtbo", "remark-1", "s2-diagonal")
def test_identity_matrix_is_n_independent_gps(history):
    X, arms, Y = history
    posteriors = [
        exact_posterior(kernel, ETA, X)
        for kernel in (
            ICM(RBF(0.3), np.eye(3)),
            similarity_kernel(RBF(0.3), 3, 1.0),
            DiagonalKernel([RBF(0.3)] * 3),
        )
    ]
    gp = GP(RBF(0.3), ETA).condition(X[arms], Y)
    mean, var = gp.predict(X)
    for posterior in posteriors:
        posterior.update(arms, Y)
        np.testing.assert_allclose(posterior.mean, mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(posterior.task_variances(), np.tile(var[:, None], 3), atol=1e-12)


@pytest.mark.paper("mtbo", "s2-icm")
def test_one_task_is_a_scalar_gp(history):
    X, arms, Y = history
    gp = GP(RBF(0.3), ETA).condition(X[arms], Y[:, 0])
    posterior = exact_posterior(ICM(RBF(0.3), [[1.0]]), ETA, X)
    posterior.update(arms, Y[:, :1])
    np.testing.assert_allclose(posterior.mean[:, 0], gp.predict(X)[0], rtol=1e-9)
    np.testing.assert_allclose(posterior.norm, gp.predict(X)[1], rtol=1e-9)


@pytest.mark.paper("mtbo", "s2-gamma-omega", "s2-kappa", "s2-unit-variance")
def test_similarity_kernel_by_hand():
    kernel = similarity_kernel(RBF(0.3), 4, 0.6)
    np.testing.assert_allclose(np.diag(kernel.B), 0.7)  # omega + (1 - omega) / n
    np.testing.assert_allclose(kernel.B[0, 1], 0.1)
    np.testing.assert_allclose(np.linalg.eigvalsh(kernel.B), [0.6, 0.6, 0.6, 1.0])
    assert kernel.kappa(np.zeros((1, 1))) == pytest.approx(1.0)
    parts = kernel.components()
    assert [(part.scale, part.directions.shape[1]) for part in parts] == [
        (pytest.approx(0.6), 3),
        (pytest.approx(1.0), 1),
    ]
    assert len(similarity_kernel(RBF(0.3), 4, 0.0).components()) == 1


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: ICM(RBF(1), [[1, 2], [0, 1]]), ValueError, "symmetric"),
        (lambda: ICM(RBF(1), [[1, 2], [2, 1]]), ValueError, "positive semi-definite"),
        (lambda: ICM(RBF(1), [[0.0]]), ValueError, "not zero"),
        (lambda: ICM("rbf", [[1.0]]), TypeError, "kernel must be callable"),
        (lambda: ICM(RBF, [[1.0]]), TypeError, "kernel must be callable"),
        (lambda: SumKernel([RBF(1)]), TypeError, "terms must be pairs"),
        (lambda: ICM(RBF(1), np.array([[1, 0.9], [0.1, 1]]) * 1e-13), ValueError, "symmetric"),
        (lambda: DiagonalKernel([RBF(1)] * 2, [1.0]), ValueError, r"shape \(2,\)"),
        (lambda: DiagonalKernel(RBF(1)), TypeError, "one kernel a task"),
        (lambda: similarity_kernel(RBF(1), 1.5, 0.5), TypeError, "integer >= 1"),
        (lambda: SumKernel([]), ValueError, "at least one"),
        (lambda: SumKernel([(RBF(1), np.eye(2)), (RBF(1), np.eye(3))]), ValueError, "2 x 2"),
        (lambda: similarity_kernel(RBF(1), 2, 1.5), ValueError, r"\[0, 1\]"),
    ],
)
def test_bad_kernels_are_refused(make, error, match):
    with pytest.raises(error, match=match):
        make()


@pytest.mark.paper("mtbo", "s2-simultaneous")
def test_a_sum_with_common_eigenvectors_is_a_diagonal_kernel_in_their_basis(history):
    """B_1 and B_2 commute: in the basis of their eigenvectors the posterior is n scalar ones."""
    X, arms, Y = history
    U = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]
    first, second = np.array([1.0, 0.5, 0.2]), np.array([0.3, 0.7, 0.4])
    kernels = RBF(0.3), RBF(0.1)
    terms = [(k, U * xi @ U.T) for k, xi in zip(kernels, (first, second), strict=True)]
    posterior = exact_posterior(SumKernel(terms), ETA, X)
    assert type(posterior) is BlockPosterior
    posterior.update(arms, Y)
    for i in range(3):
        scalar = GP(
            ConstantKernel(first[i]) * kernels[0] + ConstantKernel(second[i]) * kernels[1], ETA
        )
        mean, var = scalar.condition(X[arms], Y @ U[:, i]).predict(X)
        np.testing.assert_allclose(posterior.mean @ U[:, i], mean, rtol=1e-8, atol=1e-10)
        along = np.einsum("i,mij,j->m", U[:, i], posterior.blocks(), U[:, i])
        np.testing.assert_allclose(along, var, atol=1e-10)


@pytest.mark.paper("mtbo", "remark-3", "lemma-6")
def test_a_diagonal_kernel_gains_what_its_tasks_gain_alone(history):
    """log det(I + G_T / eta) = sum_j log det(I + K_{T,j} / eta)."""
    X, arms, _ = history
    kernels = [RBF(0.3), RBF(0.1), RBF(0.7)]
    joint = log_det_gain(gamma_sum(DiagonalKernel(kernels).terms), X[arms], ETA)
    alone = [np.linalg.slogdet(np.eye(8) + k(X[arms]) / ETA)[1] for k in kernels]
    assert joint == pytest.approx(sum(alone), rel=1e-10)
