# q8_0_impls_test for AArch64, static, run under qemu.
set(reference ${PROJECT_SOURCE_DIR}/reference)
set(sources
  ${reference}/rule.cc
  ${reference}/q8_0/blocks.cc
  ${reference}/q8_0/dot.cc
  ${reference}/q8_0/environment.cc
  ${reference}/q8_0/f16.cc
  ${reference}/q8_0/quantize.cc
  ${reference}/q8_0/quantizers.cc
  ${reference}/q8_0/validate.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/reference_q8_0.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/cpu/q8_0_abi.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/cpu/q8_0_avx2.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/cpu/q8_0_avx512.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/cpu/q8_0_cpu.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/cpu/q8_0_neon.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/cpu/q8_0_scalar.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/cpu/q8_0_validate.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/cpu/q8_0_matvec_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/cpu/q8_0_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/cpu/q8_0_testing.cc
  ${WEIGHTPROOF_GTEST_SOURCE}/src/gtest-all.cc
  ${WEIGHTPROOF_GTEST_SOURCE}/src/gtest_main.cc)
set(out ${PROJECT_BINARY_DIR}/aarch64)
file(MAKE_DIRECTORY ${out})
set(objects)
foreach(source ${sources})
  get_filename_component(stem ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  set(object ${out}/${folder}_${stem}.o)
  set(warnings -Wall -Wextra -Werror)
  if(source MATCHES "^${WEIGHTPROOF_GTEST_SOURCE}")
    set(warnings -w -I${WEIGHTPROOF_GTEST_SOURCE})
  endif()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${WEIGHTPROOF_AARCH64_CXX}
            -std=c++23 -O2 -ffp-contract=off ${warnings}
            -I${PROJECT_SOURCE_DIR} -I${PROJECT_BINARY_DIR}/generated
            -isystem ${WEIGHTPROOF_GTEST_SOURCE}/include
            -MD -MT ${object} -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} wp_rules_data
    DEPFILE ${object}.d
    VERBATIM)
  list(APPEND objects ${object})
endforeach()
add_custom_command(
  OUTPUT ${out}/q8_0_impls_test
  COMMAND ${WEIGHTPROOF_AARCH64_CXX} -static -pthread ${objects}
          -o ${out}/q8_0_impls_test
  DEPENDS ${objects}
  VERBATIM)
add_custom_target(q8_0_impls_test_aarch64 ALL
                  DEPENDS ${out}/q8_0_impls_test)
add_test(NAME q8_0_impls_test_aarch64
         COMMAND ${WEIGHTPROOF_QEMU_AARCH64} ${out}/q8_0_impls_test)
set_tests_properties(q8_0_impls_test_aarch64 PROPERTIES TIMEOUT 600)
