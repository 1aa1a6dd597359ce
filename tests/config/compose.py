#!/usr/bin/python3
"""Reads each file of a folder with libyaml and prints the tree it sees, for differential_test.cc.

One line per file: its name, a tab, and "reject" or the tree: n for null, s (plain) or q (quoted)
with line:column and the text in hexadecimal, [ ] for lists, { } for maps.
"""
import os
import sys

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def dump(node):
    if isinstance(node, yaml.ScalarNode):
        if node.style in (None, "") and node.tag == "tag:yaml.org,2002:null":
            return "n"
        kind = "s" if node.style in (None, "") else "q"
        mark = node.start_mark
        return f"{kind}{mark.line + 1}:{mark.column + 1}:{node.value.encode().hex()};"
    if isinstance(node, yaml.SequenceNode):
        return "[" + "".join(dump(item) for item in node.value) + "]"
    return "{" + "".join(dump(key) + dump(value) for key, value in node.value) + "}"


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        documents = list(yaml.compose_all(file.read(), Loader=LOADER))
    if len(documents) != 1:
        return "reject"
    return "n" if documents[0] is None else dump(documents[0])


for name in sorted(os.listdir(sys.argv[1])):
    try:
        tree = read(os.path.join(sys.argv[1], name))
    except (yaml.YAMLError, UnicodeDecodeError, ValueError):
        tree = "reject"
    print(f"{name}\t{tree}")
