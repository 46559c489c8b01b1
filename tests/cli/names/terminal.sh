script -qec "\"$CALC\" names sys" /dev/null | tr -d '\r' | head -n 2
script -qec "\"$CALC\" names sys --short" /dev/null | tr -d '\r' | head -n 2
