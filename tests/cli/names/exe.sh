"$CALC" names exe | grep seqsel_fig1
