"""The budget of the tests: what each stage may cost, in units (costs.py)."""

import pathlib

TOLERANCE = 1.33  # of what a stage may cost more than its figure


def read_budget(path):
    """Units by stage."""
    budget = {}
    for line in pathlib.Path(path).read_text().splitlines():
        if line and not line.startswith("#"):
            name, units = line.split()
            budget[name] = float(units)
    return budget


def problems_of(budget, stages):
    """The stages that cost too much or have no figure."""
    for stage in stages:
        if stage.name not in budget:
            yield f"{stage.name} has no figure in the budget; it took {stage.units:.1f} units"
        elif stage.units > budget[stage.name] * TOLERANCE:
            yield (f"{stage.name} took {stage.units:.1f} units, more than {TOLERANCE} times the "
                   f"{budget[stage.name]:g} of the budget; make it cheaper, or raise the figure in "
                   "a commit that says why")


def table(budget, stages):
    """Lines: stage, elapsed time, processor time, units, units of the budget."""
    rows = [("stage", "seconds", "processor seconds", "units", "budget")]
    for stage in stages:
        rows.append((stage.name, f"{stage.seconds:.0f}", f"{stage.processor_seconds:.0f}",
                     f"{stage.units:.1f}", f"{budget.get(stage.name, 0):g}"))
    rows.append(("total", f"{sum(stage.seconds for stage in stages):.0f}",
                 f"{sum(stage.processor_seconds for stage in stages):.0f}",
                 f"{sum(stage.units for stage in stages):.1f}",
                 f"{sum(budget.get(stage.name, 0) for stage in stages):g}"))
    return [f"{row[0]:24}" + "".join(f"{cell:>19}" for cell in row[1:]) for row in rows]
