# exit 3
# a name of a hub is that of a model that calc ships; 500_000 is a number, a false says nothing
cat >qlora.yaml <<'EOF'
base_model: NousResearch/Meta-Llama-3.1-8B-Instruct
load_in_8bit: false
load_in_4bit: true
adapter: qlora
lora_r: 32
lora_alpha: 16
lora_dropout: 0.05
lora_target_linear: true
sequence_len: 4_096
micro_batch_size: 2
gradient_accumulation_steps: 4
optimizer: paged_adamw_32bit
bf16: auto
EOF
"$CALC" import qlora.yaml --procs 8 --app model.json --exe layout.json
"$CALC" show params model.json
grep -o '"frozen_datatype": "[a-z0-9_]*"' layout.json
grep seq_size layout.json model.json
sed -i 's/NousResearch.*/nobody\/nothing-3B/' qlora.yaml
"$CALC" import qlora.yaml --app model.json
