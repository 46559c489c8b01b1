"$CALC" explain num_shared_experts
"$CALC" explain exe.matrix_dtype
