# The table over dates: what fits to what was published before a month said of what came since. Its last row is each run by
# the last fit before it; runs of one's own have no forecasts, those of serving no such table.
"$CALC" validate --worst 0 --show forecast | sed -n '/^forecasts/,$p' | awk 'NR < 3 || /^20/ { print NR < 3 ? $0 : $1 " " $2 } /^each/ { last = $7 } $1 == "2025-07" { first = $2 } END { print (last == first ? "the last row has the runs of the first" : last " and " first) }'
"$CALC" validate --worst 0 --show forecast --json - | grep -c '"before": "last", "kind"'
"$CALC" validate serving_runs --show forecast 2> /dev/null
echo "status $?"
