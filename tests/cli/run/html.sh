# exit 2
# One file with the numbers of --json, also of a layout that cannot run; standard output is taken
# once. A build without D3 says so and leaves nothing.
page()
{
    "$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --html page.html "$@" > summary 2> errors
    local code=$?
    if grep -q 'built without the library of charts' errors; then
        grep -q 'hint: install the Debian package node-d3' errors || echo "no hint"
        [ ! -e page.html ] || echo "a page without charts"
        echo "$1: a page"
        return
    fi
    sed -n '/id="calc-data"/,/<\/script>/p' page.html | sed '1d;s|</script>||' > data
    grep -q "^.*\"total_time\": $(sed -n 's/^ *"total_time": //p' run.json)\$" data || echo "another time"
    grep -c '^<!doctype html>' page.html | grep -qx 1 || echo "no page"
    [ "$code" = "$(cat status)" ] || echo "status $code"
    echo "$1: a page"
}
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --json run.json > /dev/null
echo 0 > status
page --set mem1.GiB=80
echo 1 > status
page --set mem1.GiB=10
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --html - --json -
