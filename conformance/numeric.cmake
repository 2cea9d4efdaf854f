# Numeric vectors: building, answering as a named variant, classifying.
find_package(OpenSSL REQUIRED)

add_library(wp_numeric STATIC
  classify.cc classify_dot.cc classify_quantize.cc numeric.cc numeric_answer.cc
  numeric_expect.cc numeric_reference.cc separation.cc)
target_link_libraries(wp_numeric PUBLIC wp_flags wp_q8_0 wp_vector
                      PRIVATE fmt::fmt OpenSSL::Crypto)
wp_test(numeric_test numeric_test.cc LIBS wp_numeric)
wp_test(classify_test classify_test.cc LIBS wp_numeric fmt::fmt)

add_executable(build_q8_0_vectors build_q8_0_vectors.cc)
target_link_libraries(build_q8_0_vectors PRIVATE wp_numeric fmt::fmt)
add_test(NAME q8_0_vectors_up_to_date
         COMMAND build_q8_0_vectors --check
                 ${CMAKE_CURRENT_SOURCE_DIR}/vectors)
set_tests_properties(q8_0_vectors_up_to_date PROPERTIES TIMEOUT 120)
add_executable(search_q8_0_vectors search_q8_0_vectors.cc)
target_link_libraries(search_q8_0_vectors PRIVATE wp_numeric fmt::fmt)
add_test(NAME q8_0_separate_up_to_date
         COMMAND search_q8_0_vectors --check
                 ${CMAKE_CURRENT_SOURCE_DIR}/vectors)
set_tests_properties(q8_0_separate_up_to_date PROPERTIES TIMEOUT 300)
if(NOT WEIGHTPROOF_SANITIZE)
  add_executable(q8_0_nmse nmse.cc numeric_testing.cc)
  target_link_libraries(q8_0_nmse PRIVATE wp_numeric fmt::fmt ${CMAKE_DL_LIBS})
endif()
wp_test(nmse_test PLAIN_ONLY nmse_test.cc LIBS fmt::fmt)
if(TARGET nmse_test)
  add_dependencies(nmse_test q8_0_nmse wp_mutants)
endif()
wp_test(separation_test separation_test.cc numeric_testing.cc
        LIBS wp_numeric wp_impls)
wp_test(numeric_impls_test numeric_impls_test.cc numeric_testing.cc
        LIBS wp_numeric wp_impls)
