# each command's page has the sections of what it takes
for command in run trace sweep plan tune merge validate calibrate serve explain diff why export import schema params fields names as help; do
    printf '%s:' "$command"
    "$CALC" help --man "$command" | sed -n 's/^\.SH//p' | tr '\n' ' '
    echo
done
