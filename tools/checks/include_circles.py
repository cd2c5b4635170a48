"""Circles of includes. A unit is a header with its source: x.h and x.cpp. The units of a circle reach
each other by includes, so nobody can read, test or change one of them alone."""

import re

INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def circles(root, files):
    """All circles of two or more units among these files, as sorted tuples of units."""
    graph = include_graph(root, files)
    return sorted(tuple(sorted(circle)) for circle in components(graph) if len(circle) > 1)


def include_graph(root, files):
    """Unit: the other units that it includes."""
    known = {file: unit_of(file) for file in files}
    # The headers of the client library are included as <falafel/...>, without its folder.
    known |= {file.removeprefix("client/"): unit_of(file) for file in files}
    graph = {unit_of(file): set() for file in files}
    for file in files:
        for line in (root / file).read_text().split("\n"):
            if (include := INCLUDE.match(line)) and include[1] in known:
                graph[unit_of(file)].add(known[include[1]])
    return graph


def unit_of(file):
    return file.rsplit(".", 1)[0]


def components(graph):
    """The strongly connected components (Kosaraju)."""
    order, seen = [], set()
    for unit in graph:
        visit(unit, graph, seen, order)
    reversed_graph = {unit: set() for unit in graph}
    for unit, included in graph.items():
        for other in included:
            reversed_graph[other].add(unit)
    seen = set()
    for unit in reversed(order):
        component = []
        visit(unit, reversed_graph, seen, component)
        if component:
            yield component


def visit(start, graph, seen, order):
    """Appends the units that can be reached from the start and were not seen, deepest first."""
    if start in seen:
        return
    seen.add(start)
    path = [(start, iter(graph[start]))]
    while path:
        unit, rest = path[-1]
        following = next((other for other in rest if other not in seen), None)
        if following is None:
            order.append(unit)
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(graph[following])))
