# Errors that stay as they were.
"$CALC" validate --csv before.csv > one || exit
"$CALC" validate --baseline before.csv --tolerance 0 > two || exit
cmp one two
