"$CALC" show names exe | grep seqsel_fig1
