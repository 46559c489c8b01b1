"$CALC" as galvatron --help
"$CALC" as galvatron search --help
"$CALC" as galvatron-paddle --help
