# Fields of the software are pinned, unless somebody asks for others; what depends on the layout is
# taken where it is legal.
"$CALC" sweep llama3-8B h100_sxm --procs 16 --batch 64 --set software=nanotron --plan | grep software
"$CALC" sweep llama3-8B h100_sxm --procs 16 --batch 64 --set software=nanotron --set eager=false --plan | grep -E 'eager|software' | cut -c1-70
"$CALC" sweep llama3-8B h100_sxm --procs 16 --batch 64 --set software=nanotron --save-best best.json > /dev/null
grep -E '"(eager|attention_kernel|pipeline_balance|data_par_overlap|software)"' best.json
echo '{"num_procs": 16, "batch_size": 64, "software": "nanotron", "eager": [true, false]}' > space.json
"$CALC" sweep llama3-8B h100_sxm space.json --plan | grep -E 'eager|software' | cut -c1-70
# A layout that is completed has them, too.
echo '{"software": "nanotron", "num_procs": 16, "batch_size": 64, "data_par": 16}' > part.json
"$CALC" run llama3-8B h100_sxm part.json 2>&1 | grep -E 'software|completed|attention  '
"$CALC" plan llama3-8B h100_sxm --procs 16 --batch 64 --set software=nanotron --save-best plan.json > /dev/null 2>&1
grep -E '"(eager|attention_kernel)"' plan.json
