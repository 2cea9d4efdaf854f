// weightproof-host NAME|PATH.so [--arguments TEXT] | --list
//
// Speaks the driver protocol for one implementation: a built-in one, "canary",
// or one that a shared object opens.
#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "conformance/host.h"
#include "impls/registry.h"
#include "reference/q8_0/environment.h"

namespace weightproof::conformance {
namespace {

constexpr std::size_t kMaxRequestBytes = 64u << 20;
// Small, so that a crash loses few answers that were already there.
constexpr std::size_t kFlushBytes = 4u << 10;

int Usage() {
  fmt::print(stderr,
             "usage: weightproof-host NAME|PATH.so [--arguments TEXT]\n"
             "       weightproof-host --list\n");
  return 2;
}

int ListBuiltIns() {
  for (const wp_implementation* implementation : impls::BuiltIns()) {
    fmt::print("{}\n", implementation->name);
  }
  return 0;
}

// Null after a message on stderr.
const wp_implementation* Open(const std::string& name,
                              const std::string& arguments) {
  if (!name.ends_with(".so")) {
    const wp_implementation* found = name == "canary"
                                         ? impls::CanaryImplementation()
                                         : impls::FindBuiltIn(name);
    if (found == nullptr) {
      fmt::print(stderr, "no implementation {}; see --list\n", name);
    }
    return found;
  }
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fmt::print(stderr, "{}\n", dlerror());
    return nullptr;
  }
  const auto open = reinterpret_cast<wp_open_function>(
      dlsym(library, "wp_implementation_open"));
  if (open == nullptr) {
    fmt::print(stderr, "{}: no wp_implementation_open\n", name);
    return nullptr;
  }
  char error[512] = "";
  const wp_implementation* opened =
      open(arguments.c_str(), error, sizeof error);
  if (opened == nullptr) {
    fmt::print(stderr, "{}: {}\n", name, error);
  } else if (opened->abi_version != WP_ABI_VERSION) {
    fmt::print(stderr, "{}: ABI version {}, not {}\n", name,
               opened->abi_version, WP_ABI_VERSION);
    return nullptr;
  }
  return opened;
}

bool WriteAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Answers whatever whole lines input holds and leaves the rest in it.
bool Answer(Host& host, std::string& input) {
  std::string output;
  std::size_t start = 0;
  for (std::size_t end; (end = input.find('\n', start)) != input.npos;
       start = end + 1) {
    output += host.Handle(std::string_view(input).substr(start, end - start));
    output += '\n';
    if (output.size() > kFlushBytes) {
      if (!WriteAll(output)) return false;
      output.clear();
    }
  }
  input.erase(0, start);
  return WriteAll(output);
}

int Serve(const wp_implementation* implementation, std::string leak_at_load) {
  Host host(implementation, std::move(leak_at_load));
  std::string input;
  std::string chunk(256u << 10, '\0');
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    input.append(chunk.data(), static_cast<std::size_t>(got));
    if (!Answer(host, input)) return 1;
    if (input.size() > kMaxRequestBytes) {
      fmt::print(stderr, "a request longer than 64 MiB\n");
      return 1;
    }
  }
}

int Main(std::span<char* const> args) {
  if (args.size() == 2 && std::string_view(args[1]) == "--list") {
    return ListBuiltIns();
  }
  const bool with_arguments =
      args.size() == 4 && std::string_view(args[2]) == "--arguments";
  if ((args.size() != 2 && !with_arguments) || args[1][0] == '-') {
    return Usage();
  }
  // Loading alone may change the environment: libraries linked with
  // value-changing optimisation do.
  q8_0::FpGuard guard;
  const wp_implementation* implementation =
      Open(args[1], with_arguments ? args[3] : "");
  const auto faults = guard.CheckAndRestore();
  if (implementation == nullptr) return 2;
  return Serve(implementation, faults.empty()
                                   ? std::string()
                                   : "at load: " + faults.front().detail);
}

}  // namespace
}  // namespace weightproof::conformance

int main(int argc, char** argv) {
  return weightproof::conformance::Main(
      std::span<char* const>(argv, static_cast<std::size_t>(argc)));
}
