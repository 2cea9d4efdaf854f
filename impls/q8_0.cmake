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

wp_test(q8_0_impls_test cpu/q8_0_test.cc cpu/q8_0_matvec_test.cc
        cpu/q8_0_testing.cc LIBS wp_impls wp_q8_0)
