# Hosting, driving, running and judging.
add_library(wp_host STATIC host.cc host_gguf.cc host_numeric.cc host_write.cc)
target_link_libraries(wp_host PUBLIC wp_flags wp_dump wp_protocol
                      wp_mapped_file wp_q8_0 PRIVATE fmt::fmt)
add_executable(weightproof-host host_main.cc)
target_link_libraries(weightproof-host PRIVATE wp_host wp_impls fmt::fmt
                      ${CMAKE_DL_LIBS})
wp_test(host_test PLAIN_ONLY host_test.cc LIBS wp_host)
# A library that flushes subnormals from the moment it is loaded.
add_library(leaky_plugin MODULE testing/leaky_plugin.cc)
target_link_libraries(leaky_plugin PRIVATE wp_flags)
set_target_properties(leaky_plugin PROPERTIES PREFIX "")
wp_test(host_environment_test PLAIN_ONLY host_environment_test.cc
        LIBS nlohmann_json::nlohmann_json fmt::fmt)
if(TARGET host_environment_test)
  add_dependencies(host_environment_test leaky_plugin weightproof-host)
endif()

add_library(wp_driver STATIC
  driver.cc process.cc process_child.cc process_usage.cc)
target_link_libraries(wp_driver PUBLIC wp_flags wp_protocol wp_dump
                      PRIVATE fmt::fmt)
wp_test(driver_test PLAIN_ONLY driver_test.cc LIBS wp_driver)

add_library(wp_run_files STATIC case_runner.cc journal.cc vector_files.cc)
target_link_libraries(wp_run_files PUBLIC wp_flags wp_driver wp_vector
                      wp_numeric PRIVATE fmt::fmt)

add_library(wp_judge STATIC
  deviations.cc judge.cc judge_gguf.cc judge_numeric.cc judge_observe.cc
  tensor_bytes.cc)
target_link_libraries(wp_judge PUBLIC wp_flags wp_dump wp_protocol wp_vector
                      wp_numeric wp_run_result wp_rules
                      PRIVATE fmt::fmt ZLIB::ZLIB)

add_library(wp_runner STATIC
  canary.cc driver_data.cc history.cc one_shot.cc run_past.cc run_session.cc run_target.cc runner.cc
  running.cc running_result.cc writers.cc)
target_link_libraries(wp_runner PUBLIC wp_flags wp_run_files wp_judge
                      PRIVATE wp_impls wp_reference_gguf fmt::fmt
                              Threads::Threads)
# Running anything needs the host beside it.
add_dependencies(wp_runner weightproof-host)

# Example drivers, and one that misbehaves.
add_executable(toy_q8_0 examples/toy_q8_0.cc)
target_link_libraries(toy_q8_0 PRIVATE wp_flags nlohmann_json::nlohmann_json)
add_executable(hostile_driver testing/hostile_driver.cc)
target_link_libraries(hostile_driver PRIVATE wp_flags)
wp_test(hostile_test PLAIN_ONLY hostile_test.cc LIBS wp_runner TIMEOUT 600)
wp_test(runner_test PLAIN_ONLY runner_test.cc LIBS wp_runner TIMEOUT 600)
if(TARGET hostile_test)
  add_dependencies(hostile_test hostile_driver)
endif()
if(TARGET runner_test)
  add_dependencies(runner_test toy_q8_0)
endif()
wp_test(past_test past_test.cc LIBS wp_runner wp_host)
wp_test(judge_test judge_test.cc judge_numeric_test.cc judge_rest_test.cc
        LIBS wp_runner ZLIB::ZLIB)

# The judge's own planted bugs: a sample here, all of them by .ci/nightly.
find_package(Python3 3.11 COMPONENTS Interpreter)
if(Python3_FOUND AND NOT WEIGHTPROOF_SANITIZE)
  add_test(NAME judge_mutants_sample
           COMMAND ${Python3_EXECUTABLE}
                   ${CMAKE_CURRENT_SOURCE_DIR}/mutants/run.py
                   ${PROJECT_BINARY_DIR} --sample 8)
  set_tests_properties(judge_mutants_sample PROPERTIES TIMEOUT 300)
  add_custom_target(judge_mutants
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/mutants/run.py
            ${PROJECT_BINARY_DIR}
    VERBATIM)
endif()
