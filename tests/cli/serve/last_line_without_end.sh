printf '[]' | "$CALC" serve --stdio
