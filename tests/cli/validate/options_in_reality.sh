# Pairs that differ in one option: parallelism moves memory as measured, and next to nothing goes the opposite way.
"$CALC" validate --worst 0 --show features > table || exit
sed -n '/^memory, pairs/,/^$/p' table > features
grep -E '^(tensor|pipeline) parallelism ' features | awk '{ print $1, ($4 == $3 ? "all the same way" : "not all") }'
awk '/^all/ { print ($5 == 0 ? "none opposite" : $5 " opposite"), ($3 / $2 > 0.75 ? "most the same way" : "few") }' features
"$CALC" validate --json - | grep -c '"option": "flash attention"'
sed -n '/^time, pairs/,/^$/p' table > times
awk '/^all/ { print ($3 / $2 > 0.95 ? "nearly all times the same way" : "too few") }' times
grep -Eo '^- [A-Z][A-Za-z0-9]+' times
"$CALC" validate --json - | grep -c '"quantity": "step_time", "option": "micro-batch"'
