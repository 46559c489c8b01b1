"$CALC" fields app --markdown
