# A file that cannot be read is a name, and no more.
mkdir -p own/systems && echo '{' >own/systems/mine.json && cp "$ROOT/systems/h200.json" own/systems/yours.json
CALC_PATH=own "$CALC" show names sys --long | grep -B 1 -E 'mine|yours'
