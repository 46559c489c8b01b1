"$CALC" as taylor --help
"$CALC" as taylor nd --help
"$CALC" as taylor rank --help
"$CALC" as taylor balance --help
"$CALC" as --help
