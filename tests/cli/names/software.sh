# exit 1
# Software beside executions: a list of its own, each with its source, and no execution.
"$CALC" names software
"$CALC" names software nanotron --long | cut -c1-100
"$CALC" names exe | grep -c software
