# Programs for AArch64, static, run under qemu: wp_aarch64_program(NAME
# SOURCE...) links the portable numeric sources with the given ones.
set(reference ${PROJECT_SOURCE_DIR}/reference)
set(cpu ${CMAKE_CURRENT_SOURCE_DIR}/cpu)
set(aarch64_common
  ${reference}/rule.cc
  ${reference}/q8_0/blocks.cc
  ${reference}/q8_0/dot.cc
  ${reference}/q8_0/environment.cc
  ${reference}/q8_0/f16.cc
  ${reference}/q8_0/quantize.cc
  ${reference}/q8_0/quantizers.cc
  ${reference}/q8_0/validate.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/reference_q8_0.cc
  ${cpu}/q8_0_abi.cc
  ${cpu}/q8_0_avx2.cc
  ${cpu}/q8_0_avx512.cc
  ${cpu}/q8_0_cpu.cc
  ${cpu}/q8_0_neon.cc
  ${cpu}/q8_0_scalar.cc
  ${cpu}/q8_0_testing.cc
  ${cpu}/q8_0_validate.cc)
set(aarch64_gtest
  ${WEIGHTPROOF_GTEST_SOURCE}/src/gtest-all.cc
  ${WEIGHTPROOF_GTEST_SOURCE}/src/gtest_main.cc)
set(aarch64_out ${PROJECT_BINARY_DIR}/aarch64)
file(MAKE_DIRECTORY ${aarch64_out})

# Sets OBJECT to the object of a source; the command is added once.
macro(wp_aarch64_object source)
  get_filename_component(stem ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  set(OBJECT ${aarch64_out}/${folder}_${stem}.o)
  get_property(known GLOBAL PROPERTY WP_AARCH64_OBJECTS)
  if(NOT OBJECT IN_LIST known)
    set_property(GLOBAL APPEND PROPERTY WP_AARCH64_OBJECTS ${OBJECT})
    set(warnings -Wall -Wextra -Werror)
    if("${source}" MATCHES "^${WEIGHTPROOF_GTEST_SOURCE}")
      set(warnings -w -I${WEIGHTPROOF_GTEST_SOURCE})
    endif()
    add_custom_command(
      OUTPUT ${OBJECT}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${WEIGHTPROOF_AARCH64_CXX}
              -std=c++23 -O2 -ffp-contract=off ${warnings}
              -I${PROJECT_SOURCE_DIR} -I${PROJECT_BINARY_DIR}/generated
              -isystem ${WEIGHTPROOF_GTEST_SOURCE}/include
              -MD -MT ${OBJECT} -MF ${OBJECT}.d -c ${source} -o ${OBJECT}
      DEPENDS ${source} wp_rules_data
      DEPFILE ${OBJECT}.d
      VERBATIM)
  endif()
endmacro()

function(wp_aarch64_program name)
  set(objects)
  foreach(source ${aarch64_common} ${ARGN})
    wp_aarch64_object(${source})
    list(APPEND objects ${OBJECT})
  endforeach()
  add_custom_command(
    OUTPUT ${aarch64_out}/${name}
    COMMAND ${WEIGHTPROOF_AARCH64_CXX} -static -pthread ${objects}
            -o ${aarch64_out}/${name}
    DEPENDS ${objects}
    VERBATIM)
  add_custom_target(${name}_aarch64 ALL DEPENDS ${aarch64_out}/${name})
endfunction()

# wp_aarch64_test(NAME PROGRAM ARGUMENT...)
function(wp_aarch64_test name program)
  add_test(NAME ${name}
           COMMAND ${WEIGHTPROOF_QEMU_AARCH64} ${aarch64_out}/${program}
                   ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
endfunction()

wp_aarch64_program(q8_0_impls_test ${cpu}/q8_0_bad_input_test.cc
                   ${cpu}/q8_0_matvec_test.cc ${cpu}/q8_0_test.cc
                   ${aarch64_gtest})
wp_aarch64_program(q8_0_checked_test ${cpu}/checked_call.cc
                   ${cpu}/guarded_arena.cc ${cpu}/q8_0_checked.cc
                   ${cpu}/q8_0_checked_test.cc ${aarch64_gtest})
wp_aarch64_program(q8_0_exhaustive ${cpu}/q8_0_exhaustive.cc)
wp_aarch64_program(q8_0_emulated
                   ${CMAKE_CURRENT_SOURCE_DIR}/emulated/serve_main.cc)
# The programs have the custom command of an object in common: one after the
# other.
add_dependencies(q8_0_checked_test_aarch64 q8_0_impls_test_aarch64)
add_dependencies(q8_0_exhaustive_aarch64 q8_0_checked_test_aarch64)
add_dependencies(q8_0_emulated_aarch64 q8_0_exhaustive_aarch64)

wp_aarch64_test(q8_0_impls_test_aarch64 q8_0_impls_test)
wp_aarch64_test(q8_0_checked_test_aarch64 q8_0_checked_test)
wp_aarch64_test(q8_0_exhaustive_aarch64 q8_0_exhaustive --every 65536
                --blocks 1000000)

# The driver of ggml's libraries for AArch64.
set(ggml ${CMAKE_CURRENT_SOURCE_DIR}/drivers/ggml)
find_path(WEIGHTPROOF_JSON_INCLUDE nlohmann/json.hpp REQUIRED)
set(driver ${CMAKE_CURRENT_SOURCE_DIR}/drivers/ggml-arm64/driver.cc)
add_custom_command(
  OUTPUT ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/driver_ggml_arm64
  COMMAND ${WEIGHTPROOF_AARCH64_CXX} -std=c++23 -O1 -ffp-contract=off
          -Wall -Wextra -Werror -I${PROJECT_SOURCE_DIR}
          -idirafter ${WEIGHTPROOF_JSON_INCLUDE} ${driver} ${ggml}/api.cc
          ${ggml}/q8_0.cc -o ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/driver_ggml_arm64
  DEPENDS ${driver} ${ggml}/api.cc ${ggml}/api.h ${ggml}/q8_0.cc ${ggml}/q8_0.h
          ${CMAKE_CURRENT_SOURCE_DIR}/abi.h
  VERBATIM)
add_custom_target(driver_ggml_arm64 ALL
                  DEPENDS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/driver_ggml_arm64)
