# Layouts of which only some fields are said: calc run, with options or a document, and a request complete them alike.
cat >said.json <<'END_OF_JSON'
[["llama3-70B", "h100_sxm", {"tensor_par": 8, "num_procs": 64, "batch_size": 512}],
 ["llama3-70B", "h100_sxm", {"tensor_par": 8, "pipeline_par": 2, "batch_size": 64}],
 ["llama3-8B", "a100_80g", {"pipeline_par": 2, "num_procs": 16, "batch_size": 64, "tensor_par_overlap": "auto"}],
 ["qwen3-30B-A3B", "h100_sxm", {"num_procs": 32, "batch_size": 256, "recompute_modules": ["layernorm"]}],
 ["deepseek-v3-671B", "h800", {"expert_par": 64, "num_procs": 512, "batch_size": 2048}],
 ["llama3-70B", "h100_sxm", {"training": false, "inference": {"phase": "serve", "prompt_size": 1024, "generate_size": 256}, "num_procs": 8}],
 ["llama3-8B", "mi300x", {}],
 ["llama3-70B", "h100_sxm", {"software": "torchtitan", "num_procs": 64, "batch_size": 512}]]
END_OF_JSON
python3 - "$CALC" <<'END_OF_PYTHON'
import json, subprocess, sys

def serve(*requests):
    text = "".join(json.dumps(r) + "\n" for r in requests)
    out = subprocess.run([sys.argv[1], "serve", "--stdio"], input=text, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]

def run(*words):
    out = subprocess.run([sys.argv[1], "run", *words, "--json", "-"], capture_output=True, text=True)
    return json.loads(out.stdout) if out.stdout else out.stderr

def words(prefix, fields):
    for key, value in fields.items():
        if isinstance(value, dict):
            yield from words(f"{prefix}{key}.", value)
        else:
            yield "--set"
            yield f"{prefix}{key}={'+'.join(value) if isinstance(value, list) else value if isinstance(value, str) else json.dumps(value)}"

for app, system, fields in json.load(open("said.json")):
    json.dump(fields, open("exe.json", "w"))
    names = {"app": app, "sys": system, "inputs": True}
    answers = serve({**names, "exe": fields}, {**names, "exe": "exe.json"}, {**names, "exe": {}, "set": fields},
                    {"keep": {"exe": {"mine": fields}}}, {**names, "exe": "mine"})
    del answers[3]
    runs = [run(app, system, "exe.json"), run(app, system, *words("", fields))]
    first = answers[0]
    if "errors" in first:
        print([error["message"] for error in first["errors"]], runs[0])
        continue
    print(app, system, first["verdict"], json.dumps(first["completed"]))
    for answer in answers[1:]:
        if answer != first:
            print("another answer:", str(answer)[:500])
    for of_run in runs:
        if of_run["execution"] != first["exe"] or of_run["stats"] != first["stats"]:
            print("not as calc run:", {key: (value, first["exe"].get(key)) for key, value in of_run["execution"].items() if value != first["exe"].get(key)})

names = {"app": "llama3-8B", "sys": "h100_sxm", "stats": ["total_time"]}
for wrong in ({"tensor_par": 8}, {"tensor_par": 8, "num_procs": 64}, {"tensor_par": 8, "num_procs": 12, "batch_size": 8}, {"tensor_pa": 8},
              {"tensor_par": "x"}, {"num_procs": 8, "batch_size": 8, "pipeline_par": 7}, {"num_procs": 8, "batch_size": 8, "pipeline_interleaving": 3},
              {"stages": [{"blocks": 32}]}):
    for error in serve({**names, "exe": wrong})[0]["errors"]:
        print(error["message"])
# A whole layout after a short one is as it says, and a change of a short one is part of what is said.
whole, = serve({**names, "exe": "llama3-8B_8"})
short, again, then = serve({**names, "exe": {"num_procs": 16, "batch_size": 64}}, {"set": {"pp": 4}, "stats": []}, {**names, "exe": "llama3-8B_8"})
print(then == whole, "completed" in whole, "pipeline_par" in again["completed"], again["completed"])
END_OF_PYTHON
