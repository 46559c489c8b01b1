# exit 2
# A page holds what --json writes, and the command that makes it.
"$CALC" rl qwen3-8B h100_sxm grpo --procs 16 --rollout-procs 8 --set prompts=32 --html page.html --json step.json >text.txt 2>/dev/null
python3 - <<'EOF'
import json, re
page = re.search(r'id="calc-data">(.*?)</script>', open("page.html").read(), re.S).group(1)
data = json.loads(page)
print(data["kind"], data["names"], {"format": 1, **data["step"]} == json.load(open("step.json")))
print(" ".join(data["command"]))
EOF
"$CALC" rl qwen3-8B h100_sxm grpo --procs 16 --sweep --html page.html
