# Each filter, alone; the first line only.
nd() { "$CALC" as taylor nd --yaml_path "$ROOT/tests/cli/taylor/deepseek3.yaml" "$@" | head -n 1; }
nd
nd --heads 56
nd --heads 0
nd --max_tp 8
nd --max_expert_parallel 8
nd --min_pp 4
nd --max_pp=8
nd --sp_from 2000
nd --tp_not_multiple_of 4
nd --fill_pipeline no
nd --divide_batch F --gbs 1000
nd --gbs 1000
nd --gbs 96
