# Peaks of dry runs: of the rows of one layout the two terms follow; one probe alone says nothing.
cat > peaks.csv <<'CSV'
dp,tp,pp,ep,peak_mem
16,8,8,4,162358
16,8,8,8,96950
64,4,4,4,301965
64,4,4,8,170893
32,8,4,4,287613
32,8,4,8,156792
8,8,16,4,101784
8,8,16,8,68632
4,8,32,4,71710
4,8,32,8,54686
64,2,8,8,50000
CSV
"$CALC" as taylor nd --yaml_path "$ROOT/tests/cli/taylor/deepseek3.yaml" --taylor_compat yes --dryrun_data_dir peaks.csv --output_path here
cat here/nd_candidate_config.csv
