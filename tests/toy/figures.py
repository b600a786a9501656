"""Figures of the toy paper."""


def fig1(results):
    """Draw the averaged regret."""
    from matplotlib.figure import Figure

    trace = results.trace("search", "average_regret")
    data = trace.groupby(["method", "step"], as_index=False)["value"].mean()
    figure = Figure()
    axes = figure.subplots()
    for method, part in data.groupby("method"):
        axes.plot(part["step"], part["value"], label=method)
    axes.legend()
    return figure, data
