# exit 3
"$CALC" explain latency
"$CALC" explain MFU
