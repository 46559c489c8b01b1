for options in '' '--system a,,b' '--system a100_sxm_80g --fields matrix.bfloat61' '--system a100_sxm_80g --fields watts' \
    '--system a100_sxm_80g --most few' '--system a100_sxm_80g --cross columns' '--system no_such_machine' \
    '--system a100_sxm_80g --date "' '--system mi300x' '--system a100_sxm_80g --out no/such/folder'; do
    # shellcheck disable=SC2086
    "$CALC" calibrate $options > /dev/null
    echo "status $?" >&2
done
