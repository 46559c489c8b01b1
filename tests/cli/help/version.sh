# The first line is the version; the others are of this build, which must know them.
"$CALC" --version | sed -E '2,$s/^([a-z]+ +).+/\1.../'
"$CALC" --version | grep unknown
"$CALC" --version | grep -cE '^source +[-0-9a-zA-Z.]+$|^compiler +(Debian )?(gcc|[Cc]lang) [0-9.]+, [A-Z][A-Za-z]+$|^options +static library'
