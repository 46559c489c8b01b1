for options in '--rows -1' '--rows many' '--tolerance much' '--tolerance -1' '--csv - --json -' \
    '--baseline no_such.csv' '--csv no/such/folder.csv'; do
    # shellcheck disable=SC2086
    "$CALC" validate $options > /dev/null
    echo "status $?" >&2
done
