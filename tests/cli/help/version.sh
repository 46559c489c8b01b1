# The first line is the version; the others are of this build.
"$CALC" --version | sed -E '2,$s/^([a-z]+ +).+/\1.../'
