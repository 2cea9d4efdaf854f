# Hosting, driving, running and judging.
add_library(wp_host STATIC host.cc host_gguf.cc host_numeric.cc)
target_link_libraries(wp_host PUBLIC wp_flags wp_dump wp_protocol
                      wp_mapped_file wp_q8_0 PRIVATE fmt::fmt)
add_executable(weightproof-host host_main.cc)
target_link_libraries(weightproof-host PRIVATE wp_host wp_impls fmt::fmt
                      ${CMAKE_DL_LIBS})
wp_test(host_test host_test.cc LIBS wp_host)
