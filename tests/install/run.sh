#!/usr/bin/env bash
# The installed copy is complete, works after being moved, and programs can be built against it.
# usage: run.sh BUILD
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
CC=${CC:-cc}
CXX=${CXX:-c++}
run="run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full"

fail()
{
    echo "$*"
    exit 1
}

cmake --install "$build" --prefix "$scratch/first" --strip > "$scratch/log"
prefix=$scratch/second
mv "$scratch/first" "$prefix"
cd /

for file in bin/calc include/calc.h include/calc/words.h include/calc/stats.fields.h \
    share/calc/{models/gpt3-175B,systems/a100_80g,executions/3072_t4_p64_d12_mbs4_full}.json \
    share/man/man1/calc{,-run,-params,-fields}.1 share/bash-completion/completions/calc \
    share/zsh/site-functions/_calc share/fish/vendor_completions.d/calc.fish \
    share/calc/python/calc/__init__.py share/doc/calc/{README.md,LICENSE,CHANGELOG.md,CITATION.cff}; do
    [ -s "$prefix/$file" ] || fail "$file is not installed or empty"
done
# Debug builds of the archive may: nothing strips it.
if grep -rlF --exclude='*.a' -e "$build" -e "${here%/tests/install}/" "$prefix"; then
    fail "these files hold a path of the source or build tree"
fi
bash -n "$prefix/share/bash-completion/completions/calc"

# The command, from another folder.
# shellcheck disable=SC2086
"$prefix/bin/calc" $run > /dev/null || fail "the installed command fails"
# shellcheck disable=SC2086
want=$("$prefix/bin/calc" $run --json - | sed -nE 's/^ *"total_time": ([^,]*),?$/\1/p')
version=$(sed -nE 's/^#define CALC_VERSION "(.*)"/\1/p' "$prefix/include/calc.h")
want="calc $version: $(awk -v time="$want" 'BEGIN { printf "%.9g", time }')"

# The header alone.
warnings="-Wall -Wextra -Wpedantic -Werror -fsyntax-only"
# shellcheck disable=SC2086
echo '#include <calc.h>' | "$CC" -std=c17 $warnings -I"$prefix/include" -x c -
if command -v "$CXX" > /dev/null; then
    # shellcheck disable=SC2086
    echo '#include <calc.h>' | "$CXX" -std=c++17 $warnings -I"$prefix/include" -x c++ -
fi

# expect_total PROGRAM: it prints what the command says
expect_total()
{
    local got
    got=$("$1" "$prefix/share/calc") || fail "$1 fails"
    [ "$got" = "$want" ] || fail "$1 prints \"$got\", not \"$want\""
    echo "$(basename "$1"): $got"
}

# Through pkg-config.
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name calc.pc)")
export PKG_CONFIG_PATH
lib=$(pkg-config --variable=libdir calc)
[ "$(pkg-config --modversion calc)" = "$version" ] || fail "calc.pc has another version"
cd "$scratch"
if [ -e "$lib/libcalc.so" ]; then
    # shellcheck disable=SC2046
    "$CC" "$here/consumer.c" -o pkgconfig_shared $(pkg-config --cflags --libs calc) "-Wl,-rpath,$lib"
    expect_total ./pkgconfig_shared
    exported=$(nm -D --defined-only "$lib/libcalc.so" | awk '$3 !~ /^calc_/ { print $3 }')
    [ -z "$exported" ] || fail "libcalc.so exports $exported"
    mkdir static_only
    cp "$lib/libcalc.a" static_only
fi
# shellcheck disable=SC2046
"$CC" "$here/consumer.c" -o pkgconfig_static $(pkg-config --cflags calc) -L./static_only \
    $(pkg-config --static --libs calc)
expect_total ./pkgconfig_static
if ldd ./pkgconfig_static | grep libcalc; then
    fail "pkgconfig_static is linked with the shared library"
fi

# Through find_package.
mkdir consumer
cp "$here/consumer.c" consumer
cp "$here/consumer.cmake" consumer/CMakeLists.txt
cmake -S consumer -B consumer/build -DCMAKE_PREFIX_PATH="$prefix" > log
cmake --build consumer/build >> log
expect_total consumer/build/with_calc
expect_total consumer/build/with_calc_static
