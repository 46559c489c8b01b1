# exit 4
"$CALC" --help >/dev/full
