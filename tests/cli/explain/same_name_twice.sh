"$CALC" show explain fw_time
