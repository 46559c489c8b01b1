"$CALC" show fields app --markdown
