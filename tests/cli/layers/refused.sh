# exit 2
# What a list of layers cannot be, in one line each.
for list in 7 '{}' '{"tensor_par": 4}' '[{"block": 1}]' '{"blocks": [40, 39]}' \
    '{"blocks": [40, 40], "tensor_par": [3, null]}' '{"blocks": [40, 40], "tensor_par": [1, null]}' \
    '{"blocks": 80, "ends": {"tensor_par": 128, "context_par": 1}}'; do
    "$CALC" run llama3-70B h100_sxm llama3-70B_512 --set "layers=$list"
done
"$CALC" run llama3-70B h100_sxm llama3-70B_512 --set 'layers=[40, {"blocks": 40, "zero_stage": 3}]' --compat calculon
echo '{"layers": [80], "tensor_par": [1, 2]}' > space.json
"$CALC" sweep llama3-70B h100_sxm space.json
"$CALC" sweep llama3-70B h100_sxm --set layers=80
