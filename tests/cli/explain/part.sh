# exit 3
"$CALC" show explain latency
"$CALC" show explain MFU
