#!/usr/bin/env bash
# Who may include whom: a file of a layer includes only its own layer and lower ones, by full name.
# jansson and zlib have one door, src/io; libyaml two, formats/read_yaml.c and yaml_path.c; GLPK balance/solver_glpk.c;
# OpenMP sweep/engine.c and parallel.c; MPI sweep/ranks_mpi.c.
# usage: layers.sh [ROOT]
set -eu
cd "${1:-.}/src"

declare -A allowed=(
    [base]="base"
    [spec]="base spec"
    [model]="base spec model"
    [io]="base spec io"
    [session]="base spec model io session"
    [formats]="base spec io formats"
    [sweep]="base spec model sweep"
    [validate]="base spec model io validate"
    [calibrate]="base spec model io validate calibrate"
    [balance]="base spec model balance"
    [aiak]="base spec model balance aiak"
    [layerwise]="base spec model layerwise"
    [galvatron]="base spec model io formats layerwise galvatron"
    [gauss]="base gauss"
    [tune]="base spec model gauss tune"
    [mindspeed]="base spec model io formats gauss mindspeed"
    [plan]="base spec model balance layerwise sweep plan"
    [taylor]="base spec model io formats balance taylor"
    [report]="base spec model io report"
    [cli]="base spec model io formats balance aiak layerwise galvatron gauss tune mindspeed sweep plan validate calibrate taylor report session cli"
)
# Folders of the command: what they share is in shell and draw.
declare -A shared=(
    [shell]=""
    [draw]=""
    [as]="run"
    [calibrate]="validate"
    [plan]="sweep run"
    [tune]="sweep"
    [report]="run sweep validate"
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

# The sweep engine lies beside src; its headers are included without a folder.
for file in */*.[ch] */*/*.[ch] ../sweep/*.[ch]; do
    [ -e "$file" ] || continue
    layer=${file#../}
    layer=${layer%%/*}
    [ "$layer" = calc ] && continue
    if [ -z "${allowed[$layer]:-}" ]; then
        complain "$file" "the layer $layer is not in tests/lint/layers.sh"
        continue
    fi
    while IFS=: read -r line included; do
        case $included in
        calc.h | calc/*) continue ;;
        */*) from=${included%%/*} ;;
        *)
            from=
            [ -e "../sweep/$included" ] && from=sweep
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
    done < <(sed -nE '/^[[:space:]]*#[[:space:]]*include[[:space:]]*"/{=;s/[^"]*"([^"]*)".*/\1/p}' \
        "$file" | paste -d: - -)
    if [ "$layer" != io ] && grep -nE '#[[:space:]]*include[[:space:]]*<(jansson|zlib)' "$file"; then
        complain "$file" "jansson and zlib are for src/io"
    fi
    if [ "$file" != formats/read_yaml.c ] && [ "$file" != formats/yaml_path.c ] && grep -nE '#[[:space:]]*include[[:space:]]*<yaml' "$file"; then
        complain "$file" "libyaml is for formats/read_yaml.c and formats/yaml_path.c"
    fi
    if [ "$file" != calibrate/least_squares.c ] && [ "$layer" != gauss ] &&
        grep -nE '#[[:space:]]*include[[:space:]]*<gsl' "$file"; then
        complain "$file" "the GNU Scientific Library is for calibrate/least_squares.c and src/gauss"
    fi
    if [ "$file" != balance/solver_glpk.c ] && grep -nE '#[[:space:]]*include[[:space:]]*<glpk' "$file"; then
        complain "$file" "the GNU Linear Programming Kit is for balance/solver_glpk.c"
    fi
    if [ "$file" != ../sweep/engine.c ] && [ "$file" != ../sweep/parallel.c ] && grep -nE '#[[:space:]]*include[[:space:]]*<omp|#pragma omp parallel' "$file"; then
        complain "$file" "OpenMP is for sweep/engine.c and parallel.c"
    fi
    if [ "$file" != ../sweep/ranks_mpi.c ] && grep -nE '#[[:space:]]*include[[:space:]]*<mpi' "$file"; then
        complain "$file" "MPI is for sweep/ranks_mpi.c"
    fi
done
exit $status
