"$CALC" explain exe.seq_size
