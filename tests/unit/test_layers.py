import grimp
import pytest

PRODUCT = ("factory_site", "merging", "convergence", "workers", "runs")


@pytest.mark.parametrize(
    ("package", "allowed"), [("runs.contract", ("runs.contract",)), ("workers.host", ("workers.host", "runs.contract"))]
)
def test_what_runs_without_django_imports_nothing_else_of_the_product(package, allowed):
    graph = grimp.build_graph(*PRODUCT)
    modules = {package} | graph.find_descendants(package)
    imported = {target for module in modules for target in graph.find_modules_directly_imported_by(module)}
    stray = {name for name in imported if not any(name == root or name.startswith(f"{root}.") for root in allowed)}
    assert stray == set()
