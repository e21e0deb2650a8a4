# SPDX-License-Identifier: Apache-2.0
"""Python sources in, syntax trees out; nothing is imported or run.

Descriptor 4 holds a line of JSON with the sizes of the sources, then their bytes. To descriptor 5
goes a line of JSON a source: a tree, or {"error": what, "line": where}. A node is an object with its
type under "_", its line and column under "l" and "c", and its fields that are not empty.
"""
import ast
import json
import math
import os
import sys

LONGEST = 2000
LEFT_OUT = {"ctx", "kind", "type_comment", "type_ignores", "type_params"}


def constant(value):
    if isinstance(value, (bool, type(None))):
        return value
    if isinstance(value, str):
        return value[:LONGEST].encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, int) and abs(value) < 2**62:
        return value
    return None


def tree(node):
    if isinstance(node, list):
        return [tree(item) for item in node]
    if not isinstance(node, ast.AST):
        return constant(node)
    out = {"_": type(node).__name__}
    if hasattr(node, "lineno"):
        out["l"], out["c"] = node.lineno, node.col_offset
    if isinstance(node, ast.Constant):
        out["v"] = constant(node.value)
        return out
    for name, value in ast.iter_fields(node):
        if name not in LEFT_OUT and value not in (None, []):
            out[name] = tree(value)
    return out


def read(source):
    try:
        return tree(ast.parse(source))
    except SyntaxError as error:
        return {"error": str(error.msg), "line": error.lineno or 0}
    except ValueError as error:
        return {"error": str(error), "line": 0}
    except (RecursionError, MemoryError):
        return {"error": "nested too deeply", "line": 0}


def main():
    sys.setrecursionlimit(3000)
    with os.fdopen(4, "rb") as sources, os.fdopen(5, "w", encoding="utf-8") as trees:
        for size in json.loads(sources.readline()):
            json.dump(read(sources.read(size)), trees, separators=(",", ":"))
            trees.write("\n")


main()
