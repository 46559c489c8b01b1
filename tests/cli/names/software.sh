# exit 1
# Software beside executions: a list of its own, each with its source, and no execution.
"$CALC" show names software
"$CALC" show names software nanotron --long | cut -c1-100
"$CALC" show names exe | grep -c software
