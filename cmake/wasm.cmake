# The module of live pages: session, io, formats, model, spec and the sweep for WebAssembly, by clang, lld and wasi-libc, and the
# catalogue of models and machines. Sets calc_live_module and calc_live_catalogue, base64 of gzip; empty if something is absent.
include_guard()
set(calc_live_module "")
set(calc_live_catalogue "")
set(live_default OFF)
if(CMAKE_BUILD_TYPE STREQUAL Release)
    set(live_default ON)
endif()
option(CALC_LIVE "Pages of --html compute in the browser (clang, lld, wasi-libc, Jansson's source)" ${live_default})
if(NOT CALC_LIVE)
    return()
endif()

find_program(CALC_WASM_CLANG NAMES clang clang-14 clang-15 clang-16)
find_program(CALC_WASM_LD NAMES wasm-ld wasm-ld-14 wasm-ld-15 wasm-ld-16)
find_path(CALC_WASI_LIB crt1-reactor.o PATHS /usr/lib/wasm32-wasi /usr/share/wasi-sysroot/lib/wasm32-wasi NO_DEFAULT_PATH)
find_path(CALC_WASM_SOURCES NAMES libyaml/src/parser.c NO_DEFAULT_PATH PATHS "${PROJECT_SOURCE_DIR}/build/sources"
    DOC "folder with the sources jansson and libyaml, which scripts/setup fetches")
set(missing "")
foreach(pair IN ITEMS "CALC_WASM_CLANG=clang" "CALC_WASM_LD=lld" "CALC_WASI_LIB=wasi-libc"
        "CALC_WASM_SOURCES=sources of Jansson and libyaml")
    string(REGEX MATCH "^(.*)=(.*)$" pair "${pair}")
    if(NOT ${CMAKE_MATCH_1})
        list(APPEND missing "${CMAKE_MATCH_2}")
    endif()
endforeach()
if(CALC_WASM_CLANG)
    execute_process(COMMAND "${CALC_WASM_CLANG}" --target=wasm32-wasi -rtlib=compiler-rt -print-libgcc-file-name
        OUTPUT_VARIABLE wasm_builtins OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT EXISTS "${wasm_builtins}")
        list(APPEND missing "libclang-rt-dev-wasm32")
    endif()
endif()
if(missing)
    list(JOIN missing ", " missing)
    message(STATUS "Pages of --html will be static: no ${missing} (scripts/setup installs them)")
    return()
endif()

set(jansson "${CALC_WASM_SOURCES}/jansson/src")
set(libyaml "${CALC_WASM_SOURCES}/libyaml")
set(wasm_dir "${CMAKE_CURRENT_BINARY_DIR}/wasm")
file(MAKE_DIRECTORY "${wasm_dir}")
# As the configuration that Jansson ships for Android.
file(WRITE "${wasm_dir}/include/jansson_private_config.h" "")
file(WRITE "${wasm_dir}/include/jansson_config.h" "#define JSON_INLINE inline
#define JSON_INTEGER_IS_LONG_LONG 1
#define JSON_HAVE_LOCALECONV 0
#define JSON_HAVE_ATOMIC_BUILTINS 1
#define JSON_HAVE_SYNC_BUILTINS 1
#define JSON_PARSER_MAX_DEPTH 2048
")
set(wasm_flags --target=wasm32-wasi -Oz -msimd128 -mbulk-memory -ftls-model=local-exec -std=c17 -ffp-contract=off -ffunction-sections -fdata-sections -fvisibility=hidden
    -D_XOPEN_SOURCE=700 -D_GNU_SOURCE -D_WASI_EMULATED_SIGNAL -DHAVE_STDINT_H -DF_DUPFD_CLOEXEC=1030
    "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=" "-I${PROJECT_SOURCE_DIR}/src/wasm/include" "-I${wasm_dir}/include"
    "-I${PROJECT_SOURCE_DIR}/src" "-I${PROJECT_SOURCE_DIR}/sweep" "-I${jansson}"
    "-I${libyaml}/include")
set(wasm_objects "")
function(calc_wasm_object source name)
    set(object "${wasm_dir}/${name}.o")
    add_custom_command(OUTPUT "${object}"
        COMMAND ${CMAKE_C_COMPILER_LAUNCHER} "${CALC_WASM_CLANG}" ${wasm_flags} ${ARGN} -MD -MF "${object}.d" -c "${source}" -o "${object}"
        DEPENDS "${source}" DEPFILE "${object}.d" COMMENT "Compiling ${name} for WebAssembly" VERBATIM)
    set(wasm_objects "${wasm_objects};${object}" PARENT_SCOPE)
endfunction()

# The layers of the library, but for what is large and no page asks for, and reads and writes files (src/wasm/absent.c); all but model and sweep in the fewest bytes.
foreach(layer IN ITEMS base spec model io formats study report_data session)
    get_target_property(sources calc_${layer} SOURCES)
    foreach(source IN LISTS sources)
        if(NOT source MATCHES "base/draft.c|io/text.c|unread_keys|launcher|run_log|formats/adapters|session/completion|session/sweep_order")
            get_filename_component(path "${source}" ABSOLUTE)
            file(RELATIVE_PATH name "${CMAKE_CURRENT_SOURCE_DIR}" "${path}")
            string(REGEX REPLACE "[^a-z0-9_]" "_" name "${name}")
            calc_wasm_object("${path}" "${name}" $<$<STREQUAL:${layer},model>:-Os>)
        endif()
    endforeach()
endforeach()
list(TRANSFORM unread REPLACE "=.*$" "=" OUTPUT_VARIABLE unread_nothing)
calc_embed(unread_nothing.c formats/framework.h calc_unread_ "${unread_nothing}" "")
calc_wasm_object("${CMAKE_CURRENT_BINARY_DIR}/unread_nothing.c" unread_nothing)
file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/executions/engines/*.json" "${PROJECT_SOURCE_DIR}/executions/software/*.json")
list(TRANSFORM files REPLACE "^(.*/)([^/]*)[.]json$" "\\2=\\1\\2.json" OUTPUT_VARIABLE named)
calc_embed(wasm_files.c wasm/include/files.h calc_file_ "${named}" "${files}")
calc_wasm_object("${CMAKE_CURRENT_BINARY_DIR}/wasm_files.c" wasm_files)
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/sweep/*.c")
list(FILTER sources EXCLUDE REGEX "/(kernel|ranks_mpi)[.]c$")
foreach(path IN LISTS sources)
    get_filename_component(name "${path}" NAME_WE)
    string(REGEX MATCH "^(axis|checkpoint|defaults|designs|objective|space|variants)$" cold "${name}")
    calc_wasm_object("${path}" "sweep_${name}" $<$<NOT:$<BOOL:${cold}>>:-Os> -Wno-unknown-pragmas)
endforeach()
calc_wasm_object("${PROJECT_SOURCE_DIR}/sweep/kernel.c" sweep_kernel -O2 -fno-unroll-loops -ffinite-math-only -fno-signed-zeros
    -fno-math-errno -fno-trapping-math -Wno-unknown-pragmas -Wno-pass-failed)
foreach(name IN ITEMS dump error hashtable hashtable_seed load memory pack_unpack strbuffer strconv utf value version)
    calc_wasm_object("${jansson}/${name}.c" "jansson_${name}" -DVERSION="2.14")
endforeach()
foreach(name IN ITEMS api reader scanner parser)
    calc_wasm_object("${libyaml}/src/${name}.c" "libyaml_${name}" -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2
        -DYAML_VERSION_PATCH=5 -DYAML_VERSION_STRING="0.2.5" -Wno-unused-value)
endforeach()
calc_wasm_object("${PROJECT_SOURCE_DIR}/src/wasm/absent.c" absent)

# A module holds 512 MiB at most: what needs more is for the command.
set(wasm_module "${wasm_dir}/calc.wasm")
set(wasm_exports malloc free _initialize calc_session_open calc_session_ask calc_session_release calc_session_close)
list(TRANSFORM wasm_exports PREPEND "--export=")
add_custom_command(OUTPUT "${wasm_module}"
    COMMAND "${CALC_WASM_LD}" -o "${wasm_module}" --no-entry "${CALC_WASI_LIB}/crt1-reactor.o" "-L${CALC_WASI_LIB}"
        --gc-sections --strip-all -O3 ${wasm_exports} -z stack-size=8388608 --stack-first --max-memory=536870912
        ${wasm_objects} -lc -lm -lwasi-emulated-signal "${wasm_builtins}"
    DEPENDS ${wasm_objects} COMMENT "Linking calc.wasm" VERBATIM)

file(GLOB catalogue CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/models/*.json" "${PROJECT_SOURCE_DIR}/systems/*.json")
set(calc_live_module "${wasm_dir}/calc.wasm.txt")
set(calc_live_catalogue "${wasm_dir}/catalogue.json.txt")
add_custom_command(OUTPUT "${calc_live_module}"
    COMMAND sh -c "gzip -9nc \"$1\" | base64 -w0 > \"$2\"" sh "${wasm_module}" "${calc_live_module}"
    DEPENDS "${wasm_module}" VERBATIM)
add_custom_command(OUTPUT "${calc_live_catalogue}"
    COMMAND sh "${PROJECT_SOURCE_DIR}/src/wasm/catalogue.sh" "${PROJECT_SOURCE_DIR}" "${calc_live_catalogue}"
    DEPENDS ${catalogue} "${PROJECT_SOURCE_DIR}/src/wasm/catalogue.sh" VERBATIM)
