"$CALC" --version
