# exit 3
echo '[]' >app.json; echo '{' >sys.json; : >exe.json
"$CALC" run app.json sys.json exe.json
