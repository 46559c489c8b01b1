# The page that begins with a question names what its catalogue has; a build without the module says so in a line.
"$CALC" show app ./mine.json h100_sxm --html page.html
echo $?
"$CALC" show app llama3-8 h100_sxm --html page.html
echo $?
ls
"$CALC" show app llama3-8B h200 --procs 16 --html page.html 2> errors || cat errors > page.html
grep -ocE '"kind": "app"|built without the (module of pages that compute|library of charts)' page.html
