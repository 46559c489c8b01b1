"""Every shipped file is what its schema says, broken files are not, and calc agrees.

usage: check_schema.py CALC ROOT
"""

import copy
import csv
import glob
import gzip
import json
import math
import os
import re
import subprocess
import sys
import tempfile

from jsonschema import Draft202012Validator

CALC, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
NAMES = "app sys exe stats layer stage engine result space runs serving_runs operators validation plan tune".split()
RUN = ["gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full"]
FOLDERS = {"app": "models", "sys": "systems", "exe": "executions"}
os.environ["CALC_PATH"] = ROOT
failures = []


def calc(*words, text=None):
    return subprocess.run([CALC, *words], input=text, capture_output=True, text=True, timeout=60)


def expect(what, holds):
    if not holds:
        failures.append(what)
        print("broken:", what)


def load(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as file:
        return json.load(file)


schema = {name: json.loads(calc("show", "schema", name).stdout) for name in NAMES}
for name in NAMES:
    Draft202012Validator.check_schema(schema[name])
check = {name: Draft202012Validator(schema[name]) for name in NAMES}


def whole_numbers_are_integers():
    """Where calc is stricter than a schema can be: 8.0 is an integer to JSON Schema."""
    document = load(f"{ROOT}/executions/{RUN[2]}.json") | {"tensor_par": 4.0}
    expect("8.0 is an integer to the schema", check["exe"].is_valid(document))
    expect("8.0 is none to calc", accepted("exe", document) is False)


def accepted(kind, document):
    """Whether calc reads the document: rules between fields do not count."""
    words = list(RUN)
    words[list(FOLDERS).index(kind)] = "-"
    # calc run would complete a layout that leaves fields out.
    answer = calc("show", "explain", "total_time", *words, text=json.dumps(document))
    if answer.returncode != 3:
        return True
    wrong = ("expected", "unknown key", "missing key", "is not one of", "set the same field",
             "this is")
    return not any(word in line for line in answer.stderr.splitlines() for word in wrong
                   if not line.startswith("  hint"))


def shipped_files_are_valid():
    count = 0
    for kind, folder in FOLDERS.items():
        for path in sorted(glob.glob(f"{ROOT}/{folder}/**/*.json*", recursive=True)):
            if "/jobs/" in path:  # they have no schema
                continue
            name = "space" if "/spaces/" in path or "/software/" in path else \
                "engine" if "/engines/" in path else kind
            for error in check[name].iter_errors(load(path)):
                expect(f"{path}: {error.json_path}: {error.message[:200]}", False)
            count += 1
    expect("shipped files are found", count > 150)


def results_are_valid():
    for words in (RUN + ["--layers"], RUN + ["--band"], RUN + ["--set", "mem1.GiB=1"],
                  ["deepseek-v3-671B", "h800", "deepseek-v3_2048", "--layers"],
                  ["llama3-8B", "a100_sxm_80g", "llama3-8B_8", "--rows", "a100_pcie_80g",
                   "--operators", f"{ROOT}/tests/measured/operators.csv"]):
        result = json.loads(calc("run", *words, "--json", "-").stdout)
        for error in check["result"].iter_errors(result):
            expect(f"{words}: {error.json_path}: {error.message[:200]}", False)
        expect(f"{words}: stats", check["stats"].is_valid(result["stats"]))
        for part, name in (("layers", "layer"), ("stages", "stage")):
            expect(f"{words}: {part}", all(map(check[name].is_valid, result.get(part, []))))
        expect(f"{words}: operators", ("operators" in result) == ("--operators" in words))
        del result["stats"]["total_time"]
        expect(f"{words}: a missing statistic shows", not check["result"].is_valid(result))


def operators_are_valid():
    with open(f"{ROOT}/tests/measured/operators.csv") as file:
        rows = [dict(row, value=float(row["value"])) for row in csv.DictReader(file)]
    expect("operators: valid", len(rows) > 900 and check["operators"].is_valid(rows))
    expect("operators: a value that is text shows",
           not check["operators"].is_valid([dict(rows[0], value="1")]))
    del rows[5]["shape"]
    expect("operators: a missing column shows", not check["operators"].is_valid(rows))


def runs_are_valid():
    columns = schema["runs"]["items"]["properties"]
    for path in glob.glob(f"{ROOT}/tests/measured/runs*.csv*"):
        with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            for name, column in columns.items():
                if column["type"] != "string" and name in row:
                    row[name] = float(row[name]) if row[name] else None
        expect(f"{path}: valid", rows and check["runs"].is_valid(rows))
        del rows[0]["sys"]
        expect(f"{path}: a missing column shows", not check["runs"].is_valid(rows))
    rows = list(csv.DictReader(calc("validate", "--template").stdout.splitlines()))
    for row in rows:
        for name in ("procs", "measured_s", "measured_mem_gib"):
            row[name] = float(row[name]) if row[name] else None
    expect("runs: the template is valid", len(rows) == 2 and check["runs"].is_valid(rows))
    del rows[1]["exe"], rows[1]["arguments"]
    expect("runs: a row without a layout shows", not check["runs"].is_valid(rows))


def runs_of_serving_are_valid():
    columns = schema["serving_runs"]["items"]["properties"]
    with open(f"{ROOT}/src/validate/serving_map.h") as file:
        rows = re.findall(r'X\((?:NEEDED_)?(TEXT|NUMBER), (\w+), (?:"(\w+)"|NULL)', file.read())
    known = [(kind, name) for kind, *names in rows for name in names if name]
    types = {"TEXT": "string", "NUMBER": ["number", "null"]}
    expect("serving_runs: the columns that calc reads",
           {name: types[kind] for kind, name in known} ==
           {name: column["type"] for name, column in columns.items()})
    with gzip.open(f"{ROOT}/tests/measured/serving_runs.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for name, column in columns.items():
            if column["type"] != "string" and name in row:
                row[name] = float(row[name]) if row[name] else None
    expect("serving_runs: valid", len(rows) > 6000 and check["serving_runs"].is_valid(rows))
    expect("serving_runs: a number that is text shows",
           not check["serving_runs"].is_valid([dict(rows[0], isl="1k")]))
    del rows[5]["sys"]
    expect("serving_runs: a missing column shows", not check["serving_runs"].is_valid(rows))


def columns_are_those_that_calc_reads():
    """It reads a file with the columns of the schema, and none without a required one."""
    words = {"runs": ["validate", "columns.csv"],
             "operators": ["run", "llama3-8B", "a100_sxm_80g", "llama3-8B_8", "--rows",
                           "a100_pcie_80g", "--operators", "columns.csv"]}
    for name, command in words.items():
        with open(f"{ROOT}/tests/measured/{name}.csv") as file:
            rows = list(csv.DictReader(file))
        item = schema[name]["items"]

        def reads(columns):
            with tempfile.TemporaryDirectory() as folder:
                with open(f"{folder}/columns.csv", "w") as file:
                    writer = csv.DictWriter(file, columns, extrasaction="ignore")
                    writer.writeheader()
                    writer.writerows(rows)
                path = [f"{folder}/{word}" if word == "columns.csv" else word for word in command]
                return calc(*path).returncode == 0

        # Of runs there are several kinds; those say all by fields.
        fields = [c for c in rows[0] if c not in item["properties"]] if name == "runs" else []
        known = [*item["properties"], *fields]
        known = [c for c in known if name != "runs" or c in rows[0]]
        required = item["required"] + (item["anyOf"][2]["required"] if name == "runs" else [])
        expect(f"{name}: its columns are enough", reads(known))
        for column in required:
            expect(f"{name}: {column} is required", not reads([c for c in known if c != column]))


def validations_are_valid():
    """All members, and broken ones; what is not a validation is none."""
    answer = json.loads(calc("validate", "--band", "--json", "-").stdout)
    for error in check["validation"].iter_errors(answer):
        expect(f"validate: {error.json_path}: {error.message[:200]}", False)
    for part in "rows groups features peers bands worst".split():
        expect(f"validate: {part} is filled", bool(answer[part]))
        broken = copy.deepcopy(answer)
        broken[part][0]["typo"] = 1
        expect(f"validate: {part}: another member shows", not check["validation"].is_valid(broken))
    expect("validate: every status is known",
           set(answer["counts"]) == {"runs", *schema["validation"]["$defs"]["status"]["enum"]})
    del answer["rows"][0]["error"]
    expect("validate: a missing member shows", not check["validation"].is_valid(answer))


def plans_are_valid():
    """One chip and two, with chunks and without; and broken ones."""
    words = ("--procs 16 --batch 32 --axis pp=4 --axis tp=4 --axis microbatch_size=1 --set num_blocks=8 "
             "--time-limit 1000 --progress none --out -").split()
    for systems in ("a800", "a800,h800"):
        answer = json.loads(calc("plan", "llama2-70B", systems, *words).stdout)
        for error in check["plan"].iter_errors(answer):
            expect(f"plan: {systems}: {error.json_path}: {error.message[:200]}", False)
        expect(f"plan: {systems}: several are found", len(answer["found"]) > 1)
        expect(f"plan: {systems}: stages are listed where they differ",
               any("stages" in found["execution"] for found in answer["found"]) == ("," in systems))
        for found in answer["found"]:
            expect("plan: the bound is below the step",
                   answer["bound_time"] <= found["bound_time"] <= found["stats"]["total_time"])
    for member in list(answer):
        broken = {key: value for key, value in answer.items() if key != member}
        expect(f"plan: {member} is required", not check["plan"].is_valid(broken))
    for member in set(answer["found"][0]) - {"export"}:
        broken = copy.deepcopy(answer)
        del broken["found"][0][member]
        expect(f"plan: {member} of a layout is required", not check["plan"].is_valid(broken))
    for part in (answer, answer["found"][0], answer["found"][0]["execution"], answer["found"][0]["stats"]):
        part["typo"] = 1
        expect("plan: another member shows", not check["plan"].is_valid(answer))
        del part["typo"]
    expect("plan: it is valid again", check["plan"].is_valid(answer))


def decisions_are_valid():
    """Of a simulated truth, which has measurements of every kind, and before any; and broken ones."""
    words = "llama2-7B a100_sxm_40g --procs 8 --batch 64 --progress none --json -".split()
    with tempfile.TemporaryDirectory() as folder:
        for more in ("--simulate", "1"), ("--out", folder):
            answer = json.loads(calc("tune", *words, *more).stdout)
            for error in check["tune"].iter_errors(answer):
                expect(f"tune: {more}: {error.json_path}: {error.message[:200]}", False)
            expect(f"tune: {more}: all candidates are there", len(answer["layouts"]) == answer["candidates"])
            if "truth" in answer:
                measured = answer
    expect("tune: what is next is said", len(answer["next"]) == 1 and "best" not in answer)
    best = [row for row in measured["layouts"] if row["layout"] == measured["best"]][0]
    fastest = min(row["measured_s"] for row in measured["layouts"] if row["measured_s"])
    expect("tune: the best is the fastest measured", best["measured_s"] == fastest
           and math.isclose(measured["best_s"], fastest, rel_tol=1e-12))
    for member in set(measured) - {"best", "best_s", "truth"}:
        broken = {key: value for key, value in measured.items() if key != member}
        expect(f"tune: {member} is required", not check["tune"].is_valid(broken))
    for part in (measured, measured["layouts"][0], measured["measured"][0], measured["truth"]):
        part["typo"] = 1
        expect("tune: another member shows", not check["tune"].is_valid(measured))
        del part["typo"]
    expect("tune: it is valid again", check["tune"].is_valid(measured))


def plans_of_layers_are_valid():
    """With one stage and with two; what is there beside."""
    words = ("llama3.2-1B h100_sxm --procs 4 --batch 8 --set num_blocks=8 --set mem1.GiB=8 --layers "
             "--time-limit 1000 --progress none --out -").split()
    for axis in ("pp=1", "pp=2"):
        answer = json.loads(calc("plan", *words, "--axis", axis).stdout)
        for error in check["plan"].iter_errors(answer):
            expect(f"plan: layers: {axis}: {error.json_path}: {error.message[:200]}", False)
        expect(f"plan: layers: {axis}: layers are listed",
               any("layers" in found["execution"] for found in answer["found"]))
        steps = [point["total_time"] for point in answer["curve"]]
        expect(f"plan: layers: {axis}: more memory is quicker", steps == sorted(set(steps), reverse=True))
        for found in answer["found"]:
            expect("plan: layers: the bound is below the step",
                   found["bound_time"] <= found["stats"]["total_time"])


def rule_of(property):
    """What a value must be, beside "auto"."""
    parts = property.get("allOf", property.get("anyOf", [property]))
    return parts[1] if parts[0] == {"const": "auto"} else parts[0] if "allOf" in property else property


def broken_values(property):
    """Values that a field must refuse, from what its schema allows."""
    rule = rule_of(property)
    yield {"no": "field"}
    yield None
    if rule.get("type") in ("integer", "number"):
        yield "8"
        yield True
        if "minimum" in rule:
            yield rule["minimum"] - (1 if rule["type"] == "integer" else 1e-7)
        for other in rule.get("anyOf", []):  # 0, or at least
            if "minimum" in other:
                yield other["minimum"] / 2
        if "maximum" in rule:
            yield rule["maximum"] * 2
        if rule["type"] == "integer":
            yield 1.5
    elif rule.get("type") == "boolean":
        yield 1
        yield "true"
    elif "enum" in rule:
        yield rule["enum"][0] + "x"
        yield 1
    elif "anyOf" in rule:
        yield ["nothing"]
        yield "nothing"
    elif rule.get("type") == "array":
        yield []
        yield [1]
        yield [[1, 2, 3]]
    elif rule.get("type") == "object":
        yield {}
        yield []


def broken_files_are_not_valid():
    count = 0
    for kind, name in zip(FOLDERS, RUN):
        good = load(f"{ROOT}/{FOLDERS[kind]}/{name}.json")
        rules = schema[kind]["$defs"]["document"]
        expect(f"{kind}: the good one", check[kind].is_valid(good) and accepted(kind, good))

        def refused(what, document):
            nonlocal count
            count += 1
            expect(f"{kind}: {what}: the schema refuses", not check[kind].is_valid(document))
            expect(f"{kind}: {what}: calc refuses", not accepted(kind, document))

        for key in rules["required"]:
            refused(f"no {key}", {k: v for k, v in good.items() if k != key})
        refused("a key more", good | {"no_such_key": 1})
        for key, property in rules["properties"].items():
            for value in broken_values(property):
                rule = rule_of(property)
                if value == {} and not rule.get("required") and "minProperties" not in rule:
                    continue
                refused(f"{key}: {value}", good | {key: value})
        for pair in rules.get("allOf", []):
            if "oneOf" in pair:  # another name of a field that must be there
                other, one = (names["required"][0] for names in pair["oneOf"])
                refused(f"no {one}", {k: v for k, v in good.items() if k != one})
                renamed = {other if k == one else k: v for k, v in good.items()}
                expect(f"{kind}: {other}", check[kind].is_valid(renamed) and accepted(kind, renamed))
            else:
                one, other = pair["not"]["required"]
            refused(f"{one} and {other}", good | {one: 1, other: 1})
    # deeper
    good = load(f"{ROOT}/systems/{RUN[1]}.json")
    for path, value in ((("mem1", "GiB"), -1), (("networks", 0, "ops", "p2p"), [1, 2]),
                        (("networks", 0, "efficiency"), 0), (("networks", 0, "typo"), 1),
                        (("matrix", "float17"), {}), (("networks", 0, "processor_usage"), 1)):
        document = copy.deepcopy(good)
        place = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        expect(f"sys: {path}: the schema refuses", not check["sys"].is_valid(document))
        expect(f"sys: {path}: calc refuses", not accepted("sys", document))
    expect("files were broken", count > 500)


def other_names_are_valid():
    good = load(f"{ROOT}/models/gpt3-175B.json")
    for change in ({"kv_groups": 8}, {"num_shared_experts": 1}, {"bias": False}, {"bias": "auto"}):
        expect(f"app: {change}", check["app"].is_valid(good | change))
    exe = load(f"{ROOT}/executions/{RUN[2]}.json")
    for change in ({"attention_type": "mla"}, {"recompute_modules": ["mlp", "moe"]},
                   {"recompute_modules": "mlp+moe"}, {"data_par": "auto"}, {"data_par_overlap": "auto"},
                   {"software": "nanotron"}):
        expect(f"exe: {change}", check["exe"].is_valid(exe | change))
        expect(f"exe: {change}: calc", accepted("exe", exe | change) or "mla" in change.values()
               or "recompute_modules" in change)
    expect("exe: not every field follows", not check["exe"].is_valid(exe | {"weight_offload": "auto"}))


def spaces():
    for good in ({"tensor_par": [1, 2]}, {"tensor_par": "1:8:x2"}, {"batch_size": {"max": 8}},
                 {"sys.mem1.GiB": [40, 80]}, {"datatype": "*"}, {"top": 3, "per": ["num_procs"]},
                 {"software": "nanotron"}):
        expect(f"space: {good}", check["space"].is_valid(good))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(good | {"num_procs": 8, "batch_size": 8}, file)
            file.flush()
            answer = calc("sweep", *RUN[:2], file.name, "--plan")
            expect(f"space: {good}: calc: {answer.stderr}", answer.returncode == 0)
    for bad in ({"tensor_par": []}, {"tensor_par": 0}, {"datatype": "float17"}, {"typo": 1},
                {"batch_size": {"min": 8}}, {"training": 1}):
        expect(f"space: {bad}", not check["space"].is_valid(bad))


shipped_files_are_valid()
results_are_valid()
runs_are_valid()
runs_of_serving_are_valid()
operators_are_valid()
columns_are_those_that_calc_reads()
validations_are_valid()
plans_are_valid()
plans_of_layers_are_valid()
decisions_are_valid()
broken_files_are_not_valid()
other_names_are_valid()
whole_numbers_are_integers()
spaces()
print(f"{len(failures)} broken")
sys.exit(1 if failures else 0)
