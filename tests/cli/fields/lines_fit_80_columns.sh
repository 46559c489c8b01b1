"$CALC" fields | awk 'length > 80'
