#!/usr/bin/env bash
# The tarball holds everything and runs wherever it is unpacked.   usage: tarball.sh BUILD
set -eu
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cpack --config "$build/CPackConfig.cmake" -G TGZ -B "$scratch/out" > log || {
    cat log
    exit 1
}
mkdir "a folder"
tar -C "a folder" --strip-components=1 -xzf out/*.tar.gz
"a folder/bin/calc" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full | grep -q 'time per step'
"a folder/bin/calc" --version | grep -q '^calc [0-9]'
for file in share/doc/calc/CITATION.cff share/calc/python/calc/__init__.py share/man/man1/calc-run.1 \
    include/calc.h; do
    [ -s "a folder/$file" ] || {
        echo "$file is not in the tarball"
        exit 1
    }
done
# The Python module finds the library and the data it came with.
if [ -n "$(find "a folder" -name 'libcalc.so.*')" ] && [ -x /usr/bin/python3 ]; then
    env -u CALC_LIBRARY -u CALC_PATH PYTHONPATH="a folder/share/calc/python" /usr/bin/python3 -B -c \
        'import calc; print(calc.run("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full")["verdict"])'
fi
