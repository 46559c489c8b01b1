layout='gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full'
mkdir measured
# shellcheck disable=SC2086
{
    "$CALC" run $layout --band --compat calculon
    echo "status $?" >&2
    echo id,quantity > measured/residuals.csv
    CALC_PATH=$PWD:$ROOT "$CALC" run $layout --band --json out.json
    echo "status $?" >&2
    ls
    head -1 "$ROOT/tests/measured/residuals.csv" > measured/residuals.csv
    CALC_PATH=$PWD:$ROOT "$CALC" run $layout --band | sed -n '/^Band/,/^$/p' # no runs: no band
    "$CALC" calibrate --system ascend_910b --json - --residuals -
    echo "status $?" >&2
}
