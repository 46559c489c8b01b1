#!/usr/bin/env bash
# Each lint script fails on a small tree that breaks its rule, and says where.
set -eu
lint=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$lint/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

# new_tree: an empty tree with every layer
new_tree()
{
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/sweep" "$scratch/tree/tests" "$scratch/tree/scripts" "$scratch/tree/.ci"
    mkdir -p "$scratch"/tree/src/{base,spec,model,io,validate,cli,calc}
    for layer in base spec model io validate cli; do
        echo "int calc_${layer}_one;" > "$scratch/tree/src/$layer/one.c"
        echo "extern int calc_${layer}_one;" > "$scratch/tree/src/$layer/one.h"
    done
    echo "int calc_sweep_one;" > "$scratch/tree/sweep/one_sweep.c"
    echo "extern int calc_sweep_one;" > "$scratch/tree/sweep/one_sweep.h"
    echo "extern int calc_public;" > "$scratch/tree/src/calc.h"
    cd "$scratch/tree"
}

# expect WORDS SCRIPT ARGUMENT...: the script fails and prints the words; WORDS fine: it succeeds
expect()
{
    local words=$1 code=0
    shift
    "$lint/$1.sh" "${@:2}" > "$scratch/printed" 2>&1 || code=$?
    if [ "$code" = 77 ]; then
        return
    elif [ "$words" = fine ]; then
        [ "$code" = 0 ] && return
    elif [ "$code" != 0 ] && grep -qF -- "$words" "$scratch/printed"; then
        return
    fi
    echo "$*: expected \"$words\", got status $code and:"
    sed 's/^/    /' "$scratch/printed"
    status=1
}

new_tree
expect fine layers .
echo '#include "io/one.h"' > src/model/one.c
expect 'src/model/one.c:1: model must not include "io/one.h"' layers .
new_tree
printf '\n  #  include "spec/one.h"\n' > src/base/one.h
expect 'src/base/one.h:2: base must not include "spec/one.h"' layers .
new_tree
echo '#include "one.h"' > src/cli/one.c
expect 'src/cli/one.c:1: "one.h" lacks its layer' layers .
new_tree
echo '#include <jansson.h>' > src/cli/one.c
expect 'src/cli/one.c: jansson and zlib are for src/io' layers .
new_tree
echo '#include "io/one.h"' > sweep/one_sweep.c
expect 'sweep/one_sweep.c:1: sweep must not include "io/one.h"' layers .
new_tree
echo '#include "one_sweep.h"' > src/io/one.c
expect 'src/io/one.c:1: io must not include "one_sweep.h"' layers .
echo '#include "one_sweep.h"' | tee src/io/one.h > src/cli/one.c
rm src/io/one.[ch]
expect fine layers .
echo '#include <omp.h>' > src/cli/one.c
expect 'src/cli/one.c: OpenMP is for sweep/engine.c' layers .
echo '#include <mpi.h>' > src/cli/one.c
expect 'src/cli/one.c: MPI is for sweep/ranks_mpi.c' layers .
echo '#include <yaml.h>' > src/cli/one.c
expect 'src/cli/one.c: libyaml is for formats/read_yaml.c and yaml_edit.c' layers .
echo '#include <sha256.h>' > src/cli/one.c
expect 'cli/one.c: libmd is for cli/shell/inputs.c' layers .
new_tree
mkdir src/model/{operators,cost} && touch src/model/{operators,cost}/one.h
echo '#include "model/operators/one.h"' > src/model/cost/one.h
expect fine layers .
echo '#include "model/cost/one.h"' > src/model/operators/one.h
expect 'src/model/operators/one.h:1: model/operators must not include "model/cost/one.h"' layers .
echo '#include "model/one.h"' > src/model/operators/one.h
expect 'src/model/operators/one.h:1: model/operators must not include "model/one.h"' layers .
new_tree
mkdir src/cli/{run,tune,draw} && touch src/cli/{tune,draw}/one.h
echo '#include "cli/draw/one.h"' > src/cli/run/one.c
expect fine layers .
echo '#include "cli/tune/one.h"' > src/cli/run/one.c
expect 'src/cli/run/one.c:1: cli/run must not include "cli/tune/one.h"' layers .
new_tree
mkdir src/other && touch src/other/one.c
expect 'the layer other is not in' layers .
new_tree
git init -q . && git add src
expect fine layers .
echo 1 > results.csv && git add results.csv
expect 'results.csv: is not among what the top of the tree holds' layers .

new_tree
expect fine length .
yes '' | head -901 > src/io/one.c
expect 'src/io/one.c: 901 lines, more than 900' length .

new_tree
expect fine headers .
echo 'size_t calc_size;' > src/io/one.h
expect 'src/io/one.h: does not compile alone' headers .

new_tree
cp "$root/.clang-format" .
expect fine format .
echo 'int  calc_model_one ;' > src/model/one.c
expect 'src/model/one.c' format .

new_tree
expect fine cppcheck .
echo 'int calc_io_one(void) { int a[2] = {0}; return a[2]; }' > src/io/one.c
expect 'src/io/one.c' cppcheck .

new_tree
cp "$root/.clang-tidy" .
cat > compile_commands.json << END
[{"directory": "$PWD", "file": "src/io/one.c", "command": "cc -c src/io/one.c"}]
END
expect fine tidy . .
echo 'int calc_io_one(int *a) { if (!a) return *a; return 0; }' > src/io/one.c
expect 'src/io/one.c:1:' tidy . .

new_tree
echo '#!/bin/sh' > scripts/one
expect fine shellcheck .
# shellcheck disable=SC2016
echo 'cd $1' >> scripts/one
expect 'In scripts/one line 2' shellcheck .

# compiled: build/ holds the objects of src/, as CMake names them
compiled()
{
    rm -rf build
    for source in src/*/*.c sweep/*.c; do
        object=build/${source%%/*}/CMakeFiles/calc_$(basename "$(dirname "$source")").dir/${source#*/}.o
        mkdir -p "$(dirname "$object")"
        "${CC:-cc}" -O1 -fno-builtin -c "$source" -o "$object"
    done
}
new_tree
sed -i 's/int \(.*\);/const int \1 = 1;/' src/*/one.c sweep/one_sweep.c
compiled
expect fine symbols build .
touch src/io/two.c
expect 'src/io/two.c: is not compiled' symbols build .
rm src/io/two.c
echo 'const int other = 1;' > src/io/one.c
compiled
expect 'src/io/one.c: exports other, which does not start with calc_' symbols build .
echo 'const int calc_hidden = 1;' > src/io/one.c
compiled
expect 'src/io/one.c: exports calc_hidden, which src/calc.h src/io/one.h does not declare' symbols build .
echo 'int calc_io_one(void) { static int calls; return ++calls; }' > src/io/one.c
compiled
expect 'is a global variable' symbols build .
new_tree
echo 'const int other = 1;' > sweep/one_sweep.c
compiled
expect 'sweep/one_sweep.c: exports other, which does not start with calc_' symbols build .
new_tree
sed -i 's/int \(.*\);/const int \1 = 1;/' src/*/one.c sweep/one_sweep.c
compiled
echo 'const int calc_io_one = 1;' > src/io/one.c
echo 'void *malloc(unsigned long); void *calc_model_one(void) { return malloc(1); }' > src/model/one.c
compiled
expect 'src/model/one.c: imports malloc' symbols build .
echo 'void qsort(void); void calc_io_one(void) { qsort(); }' > src/io/one.c
compiled
expect 'src/io/one.c: imports qsort' symbols build .

new_tree
echo 'int calc_io_one(void) { return 1; }' > src/io/one.c
compiled
echo 'CALC_FIELD(a, REAL, _, .where = "calc_io_one")' > src/calc/a.fields.h
expect fine where build/src/CMakeFiles/calc_io.dir/io/one.c.o .
echo 'CALC_FIELD(b, REAL, _, .where = "calc_io_two")' >> src/calc/a.fields.h
expect '.where = "calc_io_two" names no function' where build/src/CMakeFiles/calc_io.dir/io/one.c.o .

new_tree
mkdir bin
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "| $* |"\n[ "$1" != fail ]\n' > bin/calc
chmod +x bin/calc
printf '# Title\n<!-- fields: calc show fields app -->\nold\n<!-- /fields -->\nEnd\n' > one.md
expect '+| show fields app |' docs bin .
CALC_UPDATE=1 "$lint/docs.sh" bin . > /dev/null
expect fine docs bin .
[ "$(cat one.md)" = '# Title
<!-- fields: calc show fields app -->

| show fields app |

<!-- /fields -->
End' ] || { echo "docs: rewritten as"; cat one.md; status=1; }
echo '<!-- fields: calc show fields exe -->' >> one.md
expect 'a marker has no end' docs bin .
echo '<!-- fields: calc fail -->' > one.md
expect 'a command of its markers fails' docs bin .
exit $status
