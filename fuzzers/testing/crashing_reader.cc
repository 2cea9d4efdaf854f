// A reader that dies on some files on purpose: a plug-in for the tests of
// campaigns. Files of an odd number of key-value pairs end the process.
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "impls/registry.h"

namespace {

void Parse(const wp_gguf_input* input, const wp_gguf_sink* sink,
           wp_answer* answer) {
  const auto* bytes = input->data.data;
  if (input->data.size >= 24 && bytes[4] == 3 && (bytes[16] & 1) != 0) {
    std::raise(SIGSEGV);
  }
  weightproof::impls::FindBuiltIn("gguf_view")->gguf_parse(input, sink, answer);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const wp_implementation*
wp_implementation_open(const char*, char*, size_t) {
  static wp_implementation table = [] {
    wp_implementation out = *weightproof::impls::FindBuiltIn("gguf_view");
    out.name = "crashing";
    out.gguf_parse = Parse;
    return out;
  }();
  return &table;
}
