# which bytes were read: measured operators, systems that stages name, and the tables of a validation, as sha256sum has them
of() { sha256sum "$1" | cut -d' ' -f1; }
said() { grep -o "\"$1\": \"[0-9a-f]*\"" "$2" | sed 's/.*: "\(.*\)"/\1/'; }
same() { if [ "$(of "$2")" = "$1" ]; then echo "same $3"; else echo "$3: not $1"; fi; }
cp "$ROOT/tests/measured/operators.csv" .
"$CALC" run llama3-8B b200_180g llama3-8B_128_fsdp --operators operators.csv --rows b200 --json a.json > /dev/null
same "$(said operators a.json)" operators.csv operators
"$CALC" plan llama2-70B a800,h800 --chips a800:128,h800:160 --procs 256 --batch 1024 --axis tp=2 --axis pp=8 --axis pipeline_interleaving=1 \
    --top 1 --progress none --save-best mixed.json > /dev/null
"$CALC" run llama2-70B a800 mixed.json --json b.json > /dev/null
same "$(said h800 b.json)" "$ROOT/systems/h800.json" stages
grep -c '"operators": "' b.json
"$CALC" validate --template > mine.csv
"$CALC" validate mine.csv --json c.json > /dev/null
same "$(said sha256 c.json)" mine.csv table
