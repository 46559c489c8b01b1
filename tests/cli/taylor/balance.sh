# The file keeps its order and its comments.
file=$ROOT/tests/cli/taylor/deepseek3.yaml
cp "$file" a.yaml
"$CALC" as taylor balance -yaml a.yaml -mindformers ~/run_mindformer.py -layer_ratio 0.3 -b_ratio 2 -head_loss 1.5 -ra_ratio 1
diff "$file" a.yaml
find pipeline_output -type f | sort
head -n 4 pipeline_output/model_mps/*.mps
head -n 3 pipeline_output/model_mps/*_names.csv
head -n 4 pipeline_output/sol_output/*.sol
cat pipeline_output/memory_info/*.txt
"$CALC" as taylor balance -extract yes -solution pipeline_output/sol_output/*.sol
