# Three measured runs on a machine of one's own: how far off, and calibrated.
"$CALC" run llama3-70B h100_sxm llama3-70B_512 --save-sys mycluster.json > /dev/null
cat > my.csv <<'END'
name,app,sys,exe,measured_s,batch_size
small,llama3-70B,./mycluster.json,llama3-70B_512,15.2,1024
middle,llama3-70B,./mycluster.json,llama3-70B_512,29.9,2048
large,llama3-70B,./mycluster.json,llama3-70B_512,58.0,4096
END
"$CALC" validate my.csv
"$CALC" calibrate my.csv --system ./mycluster.json --fields matrix.bfloat16 | grep -E 'matrix|small|middle|large'
"$CALC" validate --template > template.csv && "$CALC" validate template.csv | tail -n 1
