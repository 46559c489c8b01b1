# A sweep that is asked for finds what calc sweep finds; documents are kept under names; settings are those of calc export;
# a configuration is a model.
model=$(tr -d '\n' < "$ROOT/models/llama3-8B.json") machine=$(tr -d '\n' < "$ROOT/systems/h100_sxm.json")
options='"procs": 16, "batch": "1Mitokens", "where": ["mem1 <= 60GiB", "tensor_par != 8"], "set": "zero_stage=1", "top": 5'
{
    echo "{\"keep\": {\"app\": {\"mine\": $model}, \"sys\": {\"ours\": $machine}}}"
    echo "{\"app\": \"mine\", \"sys\": \"ours\", \"sweep\": {$options}}"
    echo "{\"sweep\": {$options, \"space\": {\"pipeline_par\": [4]}, \"per\": \"num_procs\"}}"
    echo '{"sweep": {"procs": 16}}'
    echo '{"sweep": {"procs": 16, "batch": 16, "where": "mem1 >"}}'
    echo '{"app": "llama3-70B", "sys": "h100_sxm", "exe": "llama3-70B_512", "stats": ["total_time"], "export": "megatron"}'
    echo '{"set": {"moe_imbalance": 0.5}, "stats": ["total_time"], "export": "vllm"}'
    echo '{"keep": {}}'
    echo '{"import": {"model_type": "llama", "hidden_size": 64}}'
} | "$CALC" serve --stdio > answers
"$CALC" sweep llama3-8B h100_sxm --procs 16 --batch 1Mitokens --where 'mem1 <= 60GiB' --where 'tensor_par != 8' --set zero_stage=1 --top 5 \
    --out best.json --save-best start.json --progress none > out
"$CALC" export --to megatron llama3-70B llama3-70B_512 --out train.sh 2> /dev/null
python3 - << 'END'
import json
kept, found, groups, unsaid, wrong, exported, refused, nothing, model = map(json.loads, open('answers'))
written = json.load(open('best.json'))
print(kept)
print([layout['stats'] for layout in found['sweep']['top']] == [layout['stats'] for layout in written['top']])
print([layout['execution'] for layout in found['sweep']['top']] == [layout['execution'] for layout in written['top']])
print([layout['execution'] for layout in found['sweep']['front']] == [layout['execution'] for layout in written['front']])
start = json.load(open('start.json'))
own = {key for key in start if key not in ('source', 'format')}  # beside what a file has
print(all(found['sweep']['start']['execution'][key] == start[key] for key in own), 'start' in groups['sweep'])
print({layout['design']['system'] for layout in found['sweep']['top']}, found['sweep']['summary']['counts']['total'])
print({layout['execution']['pipeline_par'] for group in groups['sweep']['groups'] for layout in group['top']} == {4})
for answer in unsaid, wrong, model:
    print(answer['errors'][0]['message'])
print(exported['export']['text'] == open('train.sh').read(), exported['export']['framework'], exported['export']['refused'])
print(nothing)
print('text' in refused['export'], len(refused['export']['refused']) > 0)
END
