#!/usr/bin/env bash
# The packages of Debian: lintian finds nothing, and what they hold runs where it is unpacked.
# CALC_LONG=1 runs it: it builds everything again.   usage: debian.sh
set -eu
cd "$(dirname "$0")/../.."
if [ "${CALC_LONG:-}" != 1 ]; then
    echo "skipped: takes minutes; set CALC_LONG=1"
    exit 77
fi
if ! command -v dpkg-shlibdeps > /dev/null; then
    echo "skipped: no dpkg-dev"
    exit 77
fi
rm -rf build/package/packages
scripts/package
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
packages=(build/package/packages/*.deb)
[ "${#packages[@]}" = 3 ]
if command -v lintian > /dev/null; then
    options=(--fail-on "error,warning")
    [ "$(id -u)" != 0 ] || options+=(--allow-root)
    lintian "${options[@]}" "${packages[@]}"
else
    echo "no lintian: not asked"
fi
for package in "${packages[@]}"; do
    dpkg-deb -x "$package" "$scratch"
done
cd "$scratch"
usr=$scratch/usr
"$usr/bin/calc" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full | grep 'time per step'
# It needs no more than the libraries it depends on.
if ldd "$usr/bin/calc" | grep -E 'not found|libcalc'; then
    exit 1
fi
gzip -t "$usr"/share/man/man1/*.gz "$usr"/share/doc/*/changelog*.gz
[ "$(find "$usr/share/man" -name '*.1')" = "" ]
env -u CALC_PATH PYTHONPATH="$usr/share/calc/python" python3 -B -c \
    'import calc; print(calc.run("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full")["verdict"])'
PKG_CONFIG_PATH=$(dirname "$(find "$usr" -name calc.pc)")
export PKG_CONFIG_PATH
cat > consumer.c << 'END'
#include <calc.h>
int main(void) { return calc_version()[0] != '0'; }
END
# shellcheck disable=SC2046
cc consumer.c -o consumer $(pkg-config --cflags --libs calc)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir calc) ./consumer
echo "${#packages[@]} packages are fine"
