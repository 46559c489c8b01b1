# What goes to standard output is alone there.
"$CALC" validate --csv - | cut -d, -f1 | sed -n 1,2p
