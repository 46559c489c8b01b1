"$CALC" as mindspeed --help
