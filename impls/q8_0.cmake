# The numeric implementations.
target_sources(wp_impls PRIVATE reference_q8_0.cc)
target_link_libraries(wp_impls PRIVATE wp_q8_0)
