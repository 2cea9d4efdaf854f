// Both built-in readers must say the same of every split set.
// WEIGHTPROOF_SEED: where the random sets start (printed).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "impls/cpu/gguf_view_testing.h"
#include "impls/ignoring_sink.h"
#include "impls/registry.h"

namespace weightproof::impls::testing {
namespace {

struct SetFile {
  std::string name, bytes;
};

// Verdict, rule, offset and file, or the policies of an accepted set.
std::string Ask(const char* reader, const std::vector<SetFile>& files,
                const char* profile) {
  std::vector<wp_gguf_input> inputs;
  std::vector<const char*> names;
  std::string events;
  wp_gguf_sink sink = IgnoringSink();
  sink.context = &events;
  sink.header = [](void* context, const wp_gguf_header* header) {
    *static_cast<std::string*>(context) +=
        fmt::format("[{} {}]", header->kv_count, header->tensor_count);
  };
  sink.policy = [](void* context, const char* rule) {
    *static_cast<std::string*>(context) += fmt::format(" +{}", rule);
  };
  for (const SetFile& file : files) {
    wp_gguf_input input{};
    input.data = {reinterpret_cast<const std::uint8_t*>(file.bytes.data()),
                  file.bytes.size()};
    input.file_size = file.bytes.size();
    input.profile = profile;
    inputs.push_back(input);
    names.push_back(file.name.c_str());
  }
  const std::vector<wp_gguf_sink> sinks(files.size(), sink);
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  FindBuiltIn(reader)->gguf_open_set(inputs.data(), names.data(), inputs.size(),
                                     sinks.data(), &answer);
  return fmt::format("{} {} {} {} in {}{}", answer.status, answer.verdict,
                     answer.rule == nullptr ? "-" : answer.rule, answer.offset,
                     answer.verdict == WP_ACCEPT ? 0 : answer.row, events);
}

void ExpectSame(const std::vector<SetFile>& files) {
  for (const char* profile : kProfiles) {
    const std::string expected = Ask("reference", files, profile);
    if (Ask("gguf_view", files, profile) == expected) continue;
    std::string names;
    for (const SetFile& file : files) names += " " + file.name;
    ADD_FAILURE() << "profile " << profile << "," << names
                  << "\nreference: " << expected
                  << "\ngguf_view: " << Ask("gguf_view", files, profile);
  }
}

class Sets {
 public:
  explicit Sets(std::uint64_t seed) : engine_(seed) {}

  std::vector<SetFile> Next() {
    const std::uint64_t n = 1 + Below(4);
    std::vector<SetFile> files;
    for (std::uint64_t i = 0; i < n; ++i) files.push_back(File(i, n));
    if (Below(8) == 0) files.push_back(files[Below(n)]);
    if (Below(8) == 0) std::swap(files[0], files[Below(n)]);
    if (Below(8) == 0) files.pop_back();
    if (files.empty()) files.push_back(File(0, 1));
    return files;
  }

 private:
  std::uint64_t Below(std::uint64_t n) { return engine_() % n; }

  // A value that is mostly right, of a type that is mostly the custom one.
  void Key(Writer& w, const char* key, std::uint32_t type,
           std::uint64_t value) {
    constexpr int kWidths[13] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (Below(12) == 0) type = static_cast<std::uint32_t>(Below(13));
    if (Below(12) == 0) {
      const std::uint64_t odd[] = {0, 1, 2, 0x80, 0xffff, ~0ull, 1ull << 31};
      value = odd[Below(7)];
    }
    w.Key(key, type);
    if (type == 7) value &= 1;
    if (type == 8) return w.Text("2");
    if (type == 9) return w.Array(4, 0);
    w.Int(value, kWidths[type]);
  }

  SetFile File(std::uint64_t i, std::uint64_t n) {
    const bool big = Below(10) == 0;
    const std::uint32_t version = Below(10) == 0 ? 2 : 3;
    Writer w(version, big && version == 3);
    const bool no = Below(10) != 0, count = Below(10) != 0;
    const bool sum = Below(3) != 0, align = Below(6) == 0;
    w.Header(1, std::uint64_t{no} + count + sum + align);
    if (no) Key(w, "split.no", 2, i);
    if (count) Key(w, "split.count", 2, n);
    if (sum) Key(w, "split.tensors.count", 5, n);
    if (align) {
      w.Key("general.alignment", 4);
      w.Int(64, 4);
    }
    w.Tensor("t" + std::to_string(i), {8}, 0, 0);
    w.Align(align ? 64 : 32);
    w.Raw(Z(align ? 64 : 32));
    std::string bytes = w.bytes();
    if (Below(30) == 0) bytes.resize(Below(bytes.size()));
    const std::uint64_t number = Below(12) == 0 ? Below(4) : i + 1;
    SetFile file{fmt::format("m-{:05}-of-{:05}.gguf", number,
                             Below(12) == 0 ? n + 1 : n),
                 std::move(bytes)};
    if (Below(12) == 0) file.name = "model.gguf";
    return file;
  }

  std::mt19937_64 engine_;
};

TEST(Sets, AreJudgedAlikeByBothReaders) {
  const char* given = std::getenv("WEIGHTPROOF_SEED");
  const std::uint64_t seed =
      given != nullptr
          ? std::strtoull(given, nullptr, 10)
          : static_cast<std::uint64_t>(
                std::chrono::system_clock::now().time_since_epoch().count());
  fmt::print("WEIGHTPROOF_SEED={}\n", seed);
  Sets sets(seed);
  for (int i = 0; i < 20000 && !HasFailure(); ++i) ExpectSame(sets.Next());
}

TEST(Sets, NamesAreReadAlike) {
  const std::string bytes = H(3, 0, 1) + Kv("split.no", 2, U16(1));
  for (const char* name :
       {"a-00002-of-00002.gguf", "a-0002-of-0002.gguf", "-00002-of-00002.gguf",
        "00002-of-00002.gguf", "a-00002-of-00002.GGUF", "a-2-of-00002.gguf",
        "a-00000-of-00002.gguf", "a-000002-of-000002.gguf", "gguf", ".gguf",
        "a-00002-of-00002.gguf.gguf", "a-00002-of-00002",
        "a-0000000000000000002-of-00002.gguf",
        "a-000000000000000002-of-00002.gguf"}) {
    ExpectSame({{name, bytes}});
    ExpectSame({{"a-00001-of-00002.gguf", H(3, 0, 0)}, {name, bytes}});
  }
}

}  // namespace
}  // namespace weightproof::impls::testing
