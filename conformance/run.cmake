# Hosting, driving, running and judging.
add_library(wp_host STATIC host.cc host_gguf.cc host_numeric.cc)
target_link_libraries(wp_host PUBLIC wp_flags wp_dump wp_protocol
                      wp_mapped_file wp_q8_0 PRIVATE fmt::fmt)
add_executable(weightproof-host host_main.cc)
target_link_libraries(weightproof-host PRIVATE wp_host wp_impls fmt::fmt
                      ${CMAKE_DL_LIBS})
wp_test(host_test host_test.cc LIBS wp_host)

add_library(wp_driver STATIC
  driver.cc process.cc process_child.cc process_usage.cc)
target_link_libraries(wp_driver PUBLIC wp_flags wp_protocol wp_dump
                      PRIVATE fmt::fmt)
wp_test(driver_test driver_test.cc LIBS wp_driver)
