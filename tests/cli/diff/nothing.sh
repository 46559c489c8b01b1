"$CALC" diff foo a100_80g
