#!/usr/bin/env bash
# Who may include whom: a file of a layer includes only its own layer and lower ones, by full name.
# And what git has at the top of the tree: what a command left there does not come in with a commit.
# jansson and zlib have one door, src/io; libyaml formats/read_yaml.c and yaml_edit.c; libmd cli/shell/inputs.c;
# OpenMP sweep/engine.c, estimate.c and parallel.c; MPI sweep/ranks_mpi.c.
# usage: layers.sh [ROOT]
set -eu
cd "${1:-.}/src"

declare -A allowed=(
    [base]="base"
    [spec]="base spec"
    [model]="base spec model"
    [io]="base spec io"
    [session]="base spec model io formats sweep plan report tune validate session"
    [formats]="base spec io formats"
    [sweep]="base spec model sweep"
    [validate]="base spec model io validate"
    [calibrate]="base spec model io gauss validate calibrate"
    [balance]="base spec model balance"
    [aiak]="base spec model balance aiak"
    [layerwise]="base spec model layerwise"
    [galvatron]="base spec model io formats layerwise galvatron"
    [gauss]="base gauss"
    [tune]="base spec model gauss tune"
    [rl]="base spec model gauss rl"
    [mindspeed]="base spec model io formats gauss tune validate calibrate mindspeed"
    [plan]="base spec model balance layerwise sweep plan"
    [taylor]="base spec model io formats balance taylor"
    [report]="base spec model io formats sweep plan report"
    [wasm]="base io formats validate session wasm"
    [cli]="base spec model io formats balance aiak layerwise galvatron gauss tune rl mindspeed sweep plan validate calibrate taylor report session cli"
)
# Folders of the command: what they share is in shell and draw.
declare -A shared=(
    [shell]=""
    [draw]=""
    [as]="run"
    [calibrate]="validate"
    [run]="sweep"
    [explain]="run sweep"
    [formats]="sweep"
    [plan]="sweep run"
    [tune]="sweep"
    [rl]="sweep"
    [report]=""
)
# Storeys of the model; files beside them may include all.
declare -A storeys=(
    [operators]="operators"
    [cost]="operators cost"
    [schedule]="operators schedule"
    [stages]="operators cost schedule stages"
    [serve]="operators cost schedule stages serve"
)
status=0

complain()
{
    local place=src/$1
    echo "${place#src/../}: $2"
    status=1
}

# Libraries that have a door: what of them is included, where, and what is said elsewhere.
library=('<(jansson|zlib)' '<yaml' '<sha256' '(<omp|omp parallel)' '<mpi')
door=('io/' 'formats/(read_yaml|yaml_edit)\.c$' 'cli/shell/inputs\.c$' '\.\./sweep/(engine|estimate|parallel)\.c$' '\.\./sweep/ranks_mpi\.c$')
said=('jansson and zlib are for src/io'
    'libyaml is for formats/read_yaml.c and yaml_edit.c'
    'libmd is for cli/shell/inputs.c'
    'OpenMP is for sweep/engine.c, estimate.c and parallel.c'
    'MPI is for sweep/ranks_mpi.c')

# check_library FILE DIRECTIVE
check_library()
{
    for i in "${!library[@]}"; do
        [[ ! $2 =~ (include|pragma)[[:space:]]*${library[i]} || $1 =~ ^${door[i]} ]] ||
            complain "$1" "${said[i]}"
    done
}

# check_include FILE LINE LAYER INCLUDED
check_include()
{
    local file=$1 line=$2 layer=$3 included=$4 from folder other
    case $included in
    calc.h | calc/*) return ;;
    */*) from=${included%%/*} ;;
    *)
        from=
        [ ! -e "../sweep/$included" ] || from=sweep
        ;;
    esac
    if [ -z "$from" ]; then
        complain "$file:$line" "\"$included\" lacks its layer"
    elif [[ " ${allowed[$layer]} " != *" $from "* ]]; then
        complain "$file:$line" "$layer must not include \"$included\""
    elif [[ $file == cli/*/* && $included == cli/*/* ]]; then
        folder=${file#cli/} folder=${folder%%/*}
        other=${included#cli/} other=${other%%/*}
        if [[ " shell draw $folder ${shared[$folder]:-} " != *" $other "* ]]; then
            complain "$file:$line" "cli/$folder must not include \"$included\""
        fi
    elif [[ $file == model/*/* && $included == model/* ]]; then
        folder=${file#model/} folder=${folder%%/*}
        other=${included#model/} other=${other%%/*}
        if [[ " ${storeys[$folder]:-} " != *" $other "* ]]; then
            complain "$file:$line" "model/$folder must not include \"$included\""
        fi
    fi
}

# The sweep engine lies beside src; its headers are included without a folder.
shopt -s nullglob
files=(*/*.[ch] */*/*.[ch] ../sweep/*.[ch])
for file in "${files[@]}"; do
    layer=${file#../} layer=${layer%%/*}
    [ "$layer" = calc ] || [ -n "${allowed[$layer]:-}" ] ||
        complain "$file" "the layer $layer is not in tests/lint/layers.sh"
done
while IFS=: read -r file line directive; do
    layer=${file#../} layer=${layer%%/*}
    [ -n "${allowed[$layer]:-}" ] || continue
    if [[ $directive =~ ^[[:space:]]*\#[[:space:]]*include[[:space:]]*\"([^\"]*)\" ]]; then
        check_include "$file" "$line" "$layer" "${BASH_REMATCH[1]}"
    else
        check_library "$file" "$directive"
    fi
done < <(grep -nHE '#[[:space:]]*(include|pragma omp parallel)' "${files[@]}")

top=' .ci .clang-format .clang-tidy .editorconfig .gitattributes .gitignore cmake CMakeLists.txt CMakePresets.json
CHANGELOG.md CITATION.cff CONTRIBUTING.md docs executions LICENSE models pyproject.toml python README.md scripts src
sweep systems tests '
if [ -e ../.git ]; then
    while read -r entry; do
        [[ $top =~ [[:space:]]"$entry"[[:space:]] ]] || complain "../$entry" "is not among what the top of the tree holds"
    done < <(git -C .. ls-files | cut -d/ -f1 | sort -u)
fi
exit $status
