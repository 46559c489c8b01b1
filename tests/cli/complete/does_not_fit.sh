# exit 1
# Where nothing fits, the layout that needs the least memory is shown, with the reason and what would help.
"$CALC" run llama3-405B l40s --procs 8 --batch 8 | sed -n '1,/^  batch/p'
exit "${PIPESTATUS[0]}"
