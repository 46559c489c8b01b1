# The members that a request asks for beside statistics: what an answer says, a document, a page and other commands say alike.
cp "$ROOT/tests/formats/hf/gemma-3-4b.json" config.json
"$CALC" import config.json --app app.json 2>/dev/null
python3 - "$CALC" <<'END_OF_PYTHON'
import json, subprocess, sys

def serve(*requests):
    text = "".join(json.dumps(r) + "\n" for r in requests)
    out = subprocess.run([sys.argv[1], "serve", "--stdio"], input=text, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]

def same(what, a, b):
    print(what, "as they should be" if a == b and a else f"{str(a)[:300]} and {str(b)[:300]}")

names = {"app": "llama3-8B", "sys": "h100_sxm", "exe": "llama3-8B_8"}
plain, said, again = serve(names, {**names, "inputs": True}, {**names, "inputs": True, "page": True, "export": "any"})
inline, = serve({k: said[k] for k in names})
same("documents", said["stats"], plain["stats"])
same("statistics of the documents", inline["stats"], plain["stats"])
run = again["page"]["run"]
for key, name in (("application", "app"), ("system", "sys"), ("execution", "exe"), ("stats", "stats"), ("verdict", "verdict")):
    same(f"the page's {key}", run[key], again[name])
for key in said["sys"]:
    if key not in run["system"]:
        print("the page lacks", key)
framework = again["export"]["framework"]
script = subprocess.run([sys.argv[1], "export", "--to", framework, *names.values()][:4] + ["llama3-8B", "llama3-8B_8"], capture_output=True, text=True).stdout
same(f"the text of {framework}", again["export"].get("text", "").split(), script.split())
none, = serve({**names, "export": "nothing"})
print(none["export"])
config = json.load(open("config.json"))
imported, = serve({"import": config})
same("the model of a configuration", {k: v for k, v in imported["app"].items()}, {k: v for k, v in json.load(open("app.json")).items() if k in imported["app"]})
print(len(imported["remarks"]), "remarks")
# Parts of the page of a sweep: joined they are the whole page.
ask = {"app": "llama3-8B", "sys": "h100_sxm", "sweep": {"procs": "8,16", "batch": 16, "set": "tensor_par=2"}}
whole, cloud, rest = (answer["page"] for answer in serve({**ask, "page": True}, {**ask, "page": "cloud"}, {**ask, "page": "rest"}))
for part in (whole, rest):
    part["summary"] = part["summary"]["counts"]["total"]  # what bounds skip depends on the threads
same("the parts of a page", {**cloud, **rest}, whole)
print(" ".join(cloud), "and", " ".join(rest))
for wrong in ({**ask, "page": "all"}, {**ask, "page": 3}, {**names, "page": "cloud"}, {**names, "sweep": 3}, {"import": 3}, {**names, "inputs": 3}, {**names, "set": 3}, {**names, "sweep": {"top": "x"}}):
    for error in serve(wrong)[0]["errors"]:
        print(error["message"])
END_OF_PYTHON
