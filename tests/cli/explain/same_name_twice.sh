"$CALC" explain fw_time
