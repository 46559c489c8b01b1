"$CALC" show fields | awk 'length > 80'
