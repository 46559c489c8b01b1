# The target calc_flags: how every source of the project is compiled.
add_library(calc_flags INTERFACE)

# A fused multiply-add rounds once instead of twice: results would depend on compiler and processor.
target_compile_options(calc_flags INTERFACE -ffp-contract=off)
target_compile_definitions(calc_flags INTERFACE _XOPEN_SOURCE=700) # POSIX.1-2008 with realpath()
target_include_directories(calc_flags INTERFACE "${PROJECT_SOURCE_DIR}/src")

# The same sources give the same binary wherever they lie.
target_compile_options(calc_flags INTERFACE "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")

target_compile_options(calc_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wvla -Wundef
    $<$<BOOL:${CALC_WERROR}>:-Werror>)
