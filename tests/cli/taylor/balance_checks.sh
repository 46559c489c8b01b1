# Terms that are too small pass the search and not the check.
sed 's/55GB/40GB/' "$ROOT/tests/cli/taylor/deepseek3.yaml" > a.yaml
cp a.yaml b.yaml
printf 'static_mem0=500\nre_comp_mem=1\nstatic_mem=1000\n' > terms.txt
"$CALC" as taylor balance -yaml a.yaml --memory_info terms.txt
"$CALC" as taylor balance -yaml b.yaml --memory_info terms.txt -check n | grep -E '^(step|recompute)'
