"""What a JSON document, or the data of a page, is made of: each object with its members, in the order of their first one. Of a member
`key N S`: it comes N times, and its numbers, flags and lengths of texts add up to S; `key N` has members of its own.

usage: walk.py FILE [KEY...]   without what is below these keys: tables of fields, and what differs from run to run"""
import json
import re
import sys

OBJECTS = {}


def walk(path, key, value, without):
    if key in without:
        return
    row = OBJECTS.setdefault(path, {}).setdefault(key, [0, None])
    row[0] += 1
    if isinstance(value, dict):
        for name, member in value.items():
            walk(f"{path}.{key}".lstrip("."), name, member, without)
    elif isinstance(value, list):
        for item in value:
            walk(path, f"{key}[]", item, without)
    elif value is not None:
        row[1] = (row[1] or 0) + (len(value) if isinstance(value, str) else value)


with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
page = re.search(r'id="calc-data">(.*?)</script>', text, re.S)
for name, member in json.loads(page[1] if page else text).items():
    walk("", name, member, sys.argv[2:])
for path, members in OBJECTS.items():
    print(f"{path or '-'}:", ", ".join(f"{k} {n}" + ("" if s is None else f" {s:.4g}") for k, (n, s) in members.items()))
