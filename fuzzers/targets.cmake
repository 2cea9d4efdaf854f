# The programs of each target, and their tests: the committed corpus replayed,
# and some thousand executions from an empty corpus.
get_property(targets GLOBAL PROPERTY WP_FUZZ_TARGETS)

# What is instrumented for coverage: everything that is fuzzed.
set(instrumented wp_rules wp_reference_gguf wp_q8_0 wp_impls)
if(WEIGHTPROOF_FUZZ STREQUAL "libfuzzer")
  set(coverage -fsanitize=fuzzer-no-link)
elseif(WEIGHTPROOF_FUZZ STREQUAL "afl")
  set(coverage -fsanitize-coverage=trace-pc-guard)
elseif(WEIGHTPROOF_FUZZ STREQUAL "engine")
  set(coverage)  # the flags that the caller gives
  add_custom_target(engine_targets)
elseif(WEIGHTPROOF_FUZZ)
  message(FATAL_ERROR "WEIGHTPROOF_FUZZ: OFF, libfuzzer, afl or engine, not "
                      "'${WEIGHTPROOF_FUZZ}'")
endif()
if(WEIGHTPROOF_FUZZ)
  # Optimised more than the rest, which a compiler cache has from the sanitized
  # build.
  if(NOT WEIGHTPROOF_FUZZ STREQUAL "engine")
    list(APPEND coverage -O2)
  endif()
  foreach(library ${instrumented})
    target_compile_options(${library} PRIVATE ${coverage})
  endforeach()
endif()

# What `./weightproof fuzz` needs besides the programs of every command.
add_custom_target(fuzz_programs)

function(wp_fuzz_program name target)
  add_executable(${name} ${ARGN})
  target_compile_definitions(${name} PRIVATE
                             WEIGHTPROOF_FUZZ_TARGET="${target}")
  target_link_libraries(${name} PRIVATE wp_fuzz wp_fuzz_allocation)
endfunction()

foreach(target ${targets})
  wp_fuzz_program(fuzz_${target} ${target} glue/replay_main.cc)
  add_test(NAME fuzz.corpus.${target}
           COMMAND fuzz_${target} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${target})
  add_test(NAME fuzz.short.${target}
           COMMAND fuzz_${target} --fuzz --executions 4000 --seed 20261130)
  set_tests_properties(fuzz.corpus.${target} fuzz.short.${target}
                       PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)

  add_library(afl_mutator_${target} MODULE glue/afl_mutator.cc)
  target_compile_definitions(afl_mutator_${target} PRIVATE
                             WEIGHTPROOF_FUZZ_TARGET="${target}")
  target_link_libraries(afl_mutator_${target} PRIVATE wp_fuzz)
  set_target_properties(afl_mutator_${target} PROPERTIES PREFIX "")
  add_dependencies(fuzz_programs fuzz_${target} afl_mutator_${target})

  if(WEIGHTPROOF_FUZZ STREQUAL "libfuzzer")
    wp_fuzz_program(libfuzzer_${target} ${target} glue/one_input.cc
                    glue/libfuzzer_mutator.cc)
    target_link_options(libfuzzer_${target} PRIVATE -fsanitize=fuzzer)
  elseif(WEIGHTPROOF_FUZZ STREQUAL "engine")
    set(mutator)
    if(WEIGHTPROOF_FUZZ_MUTATOR)
      set(mutator glue/libfuzzer_mutator.cc)
    endif()
    wp_fuzz_program(engine_${target} ${target} glue/one_input.cc ${mutator})
    target_link_libraries(engine_${target} PRIVATE ${WEIGHTPROOF_FUZZ_ENGINE})
    add_dependencies(engine_targets engine_${target})
  elseif(WEIGHTPROOF_FUZZ STREQUAL "afl")
    wp_fuzz_program(afl_${target} ${target} glue/one_input.cc)
    target_link_libraries(afl_${target} PRIVATE
      ${WEIGHTPROOF_AFL}/libAFLDriver.a ${WEIGHTPROOF_AFL}/afl-compiler-rt.o
      m dl rt)
  endif()
endforeach()
