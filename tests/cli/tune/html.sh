# exit 2
# a page with what --json says; alone on standard output, and without charts there is none
tune() { "$CALC" tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --progress none "$@"; }
if tune --html page.html 2>&1 | grep -q 'built without the library of charts'; then
    cat "$ROOT/tests/cli/tune/html.stdout"
    cat "$ROOT/tests/cli/tune/html.stderr" >&2
    exit
fi
grep -c '"kind": "tune"' page.html
tune --next --json told.json
tune --html - >page.html
sed -n '/id="calc-data"/,/<\/script>/p' page.html | sed '1d;s|</script>||' >data.json
python3 - <<'END'
import json
page, told = json.load(open("data.json"))["tune"], json.load(open("told.json"))
print(page == told)
print(*told["next"][0]["run"], *told["next"][0]["export"])
END
ls
tune --html - --next
tune --html - --json -
