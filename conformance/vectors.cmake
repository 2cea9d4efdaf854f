# GGUF vectors: built from the recipes, compared with what is committed.
add_library(wp_vector_build STATIC
  vector_answers.cc vector_build.cc vector_build_one.cc vector_second_fault.cc
  vector_set.cc vector_twin.cc)
target_link_libraries(wp_vector_build PUBLIC wp_flags wp_vector wp_assembler
                      PRIVATE wp_dump wp_impls wp_mapped_file wp_reference_gguf
                      fmt::fmt ZLIB::ZLIB)

add_executable(build_vectors build_vectors.cc)
target_link_libraries(build_vectors PRIVATE wp_vector_build fmt::fmt)
add_test(NAME gguf_vectors_up_to_date
         COMMAND build_vectors --check
                 ${PROJECT_SOURCE_DIR}/corpus/recipes
                 ${CMAKE_CURRENT_SOURCE_DIR}/vectors)
set_tests_properties(gguf_vectors_up_to_date PROPERTIES TIMEOUT 300)
wp_test(vector_build_test vector_build_test.cc LIBS wp_vector_build)
