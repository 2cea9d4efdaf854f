# The numeric implementations.
target_sources(wp_impls PRIVATE
  reference_q8_0.cc
  cpu/q8_0_abi.cc
  cpu/q8_0_avx2.cc
  cpu/q8_0_avx512.cc
  cpu/q8_0_cpu.cc
  cpu/q8_0_neon.cc
  cpu/q8_0_scalar.cc
  cpu/q8_0_validate.cc)
target_link_libraries(wp_impls PRIVATE wp_q8_0 Threads::Threads)
# GCC would turn the gathering of scales by scalar loads and shifts, which is
# the faster way, back into insertions.
set_source_files_properties(cpu/q8_0_avx2.cc cpu/q8_0_avx512.cc PROPERTIES
                            COMPILE_OPTIONS -fno-tree-slp-vectorize)

wp_test(q8_0_impls_test cpu/q8_0_test.cc cpu/q8_0_matvec_test.cc
        cpu/q8_0_bad_input_test.cc cpu/q8_0_testing.cc LIBS wp_impls wp_q8_0)
wp_test(q8_0_checked_test cpu/q8_0_checked_test.cc cpu/q8_0_checked.cc
        cpu/checked_call.cc cpu/guarded_arena.cc cpu/q8_0_testing.cc
        LIBS wp_impls wp_q8_0)

find_package(benchmark REQUIRED)
add_executable(q8_0_bench cpu/q8_0_bench.cc cpu/q8_0_bench_loops.cc
               cpu/q8_0_testing.cc)
target_link_libraries(q8_0_bench PRIVATE
  wp_impls wp_q8_0 fmt::fmt benchmark::benchmark Threads::Threads
  ${CMAKE_DL_LIBS})

# Everything there is, or a sample of it; all of it in .ci/nightly.
add_executable(q8_0_exhaustive cpu/q8_0_exhaustive.cc cpu/q8_0_testing.cc)
target_link_libraries(q8_0_exhaustive PRIVATE wp_impls wp_q8_0
                      Threads::Threads)
set(blocks 10000000)
if(WEIGHTPROOF_SANITIZE)
  set(blocks 500000)
endif()
add_test(NAME q8_0_exhaustive_sample
         COMMAND q8_0_exhaustive --every 4096 --blocks ${blocks})
set_tests_properties(q8_0_exhaustive_sample PROPERTIES TIMEOUT 600 PROCESSORS 2)

# On processors without the instructions: a clear word, no illegal instruction.
find_program(WEIGHTPROOF_QEMU_X86_64 NAMES qemu-x86_64 qemu-x86_64-static)
if(WEIGHTPROOF_QEMU_X86_64 AND NOT WEIGHTPROOF_SANITIZE
   AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  foreach(cpu Westmere Haswell)
    add_test(NAME q8_0_on_${cpu}
             COMMAND ${WEIGHTPROOF_QEMU_X86_64} -cpu ${cpu}
                     $<TARGET_FILE:q8_0_exhaustive> --every 1000000
                     --blocks 2048 --threads 1)
  endforeach()
  set_tests_properties(q8_0_on_Westmere PROPERTIES PASS_REGULAR_EXPRESSION
    "NOT RUN: q8_0_avx2: this processor has no AVX2.*random +q8_0_scalar +2048 compared, 0 calls differ\n$")
  set_tests_properties(q8_0_on_Haswell PROPERTIES PASS_REGULAR_EXPRESSION
    "NOT RUN: q8_0_avx512: this processor has no AVX-512.*random +q8_0_avx2 +2048 compared, 0 calls differ\n$")
endif()

# The NEON kernels, and everything else that is portable, built for AArch64
# and run by an emulator, where the tools are there.
find_program(WEIGHTPROOF_AARCH64_CXX aarch64-linux-gnu-g++)
find_program(WEIGHTPROOF_QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
find_path(WEIGHTPROOF_GTEST_SOURCE src/gtest-all.cc
          PATHS /usr/src/googletest/googletest)
if(WEIGHTPROOF_AARCH64_CXX AND WEIGHTPROOF_QEMU_AARCH64
   AND WEIGHTPROOF_GTEST_SOURCE)
  include(q8_0_aarch64.cmake)
else()
  message(STATUS "NOT RUN: the NEON kernels of Q8_0 (needs "
                 "aarch64-linux-gnu-g++, qemu-aarch64 and libgtest-dev)")
endif()
