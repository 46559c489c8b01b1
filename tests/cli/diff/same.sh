"$CALC" diff a100_80g a100_80g
