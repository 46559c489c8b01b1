"$CALC" --help >/dev/full
