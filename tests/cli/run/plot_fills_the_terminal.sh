# On a terminal the drawing is as wide as that.
script -qec "stty cols 120; \"$CALC\" run mixtral-8x7B h100_sxm mixtral-8x7B_64 --plot --color never" /dev/null |
    tr -d '\r' | tail -n 5
