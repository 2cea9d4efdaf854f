// The data check of the optimized reader against that of the reference.
#include "impls/cpu/gguf_values.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>

#include "impls/cpu/gguf_view_testing.h"
#include "impls/reference_ops.h"
#include "reference/gguf/types.h"

namespace weightproof::impls::testing {
namespace {

struct Said {
  std::string answer;
  std::vector<std::string> findings;
  bool operator==(const Said&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Said& said) {
  out << said.answer;
  for (const std::string& finding : said.findings) out << "\n  " << finding;
  return out;
}

Said Ask(const wp_implementation& reader, const std::string& file,
         const char* profile = "spec") {
  wp_gguf_input input{};
  input.data = {reinterpret_cast<const std::uint8_t*>(file.data()),
                file.size()};
  input.file_size = file.size();
  input.profile = profile;
  Said said;
  const wp_gguf_data_sink sink{
      &said.findings, [](void* context, const wp_gguf_data_finding* f) {
        static_cast<std::vector<std::string>*>(context)->push_back(
            std::string(f->rule) + " " + std::to_string(f->tensor) + " " +
            std::to_string(f->block) + " " + std::to_string(f->offset) + " " +
            std::to_string(f->count));
      }};
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  reader.gguf_check(&input, &sink, &answer);
  said.answer = std::to_string(answer.status) + " " +
                std::to_string(answer.verdict) + " " +
                (answer.rule != nullptr ? answer.rule : "-") + " " +
                std::to_string(answer.offset);
  return said;
}

void ExpectSame(const std::string& file) {
  for (const char* profile : {"spec", "ggml", "candle"}) {
    EXPECT_EQ(Ask(*GgufViewImplementation(), file, profile),
              Ask(*ReferenceImplementation(), file, profile))
        << profile;
  }
}

// One tensor of each type, of the given number of blocks, filled by fill.
template <typename Fill>
std::string EveryType(std::uint64_t blocks, bool big, Fill fill) {
  const auto types = gguf::TensorTypes();
  Writer out(3, big);
  out.Header(types.size(), 0);
  std::uint64_t at = 0;
  for (const auto& type : types) {
    out.Tensor("t" + std::to_string(type.id), {type.block_elements * blocks},
               type.id, at);
    at += (type.block_bytes * blocks + 31) / 32 * 32;
  }
  out.Align(32);
  for (const auto& type : types) {
    std::string data;
    while (data.size() < type.block_bytes * blocks) data += fill();
    out.Raw(Pad(data));
  }
  return out.bytes();
}

TEST(GgufValuesAgree, OnRandomDataOfEveryType) {
  std::random_device device;
  const unsigned seed = device();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const bool big : {false, true}) {
    for (const std::uint64_t blocks : {1, 2, 700}) {
      ExpectSame(
          EveryType(blocks, big, [&] { return static_cast<char>(random()); }));
    }
    // Bytes that are often all ones, so that each class is met.
    ExpectSame(EveryType(40, big, [&] {
      const unsigned r = static_cast<unsigned>(random());
      return static_cast<char>(r % 4 == 0 ? r >> 8 : r % 4 == 1 ? 0x7c : 0xff);
    }));
  }
}

TEST(GgufValuesAgree, OnConstantData) {
  for (const int byte : {0, 1, 0x7c, 0xff}) {
    for (const std::uint64_t blocks : {1, 2, 3}) {
      ExpectSame(
          EveryType(blocks, false, [&] { return static_cast<char>(byte); }));
    }
  }
}

TEST(GgufValues, SeeEveryByteOnceInManyThreads) {
  // Two windows and a bit; the only fault in the last block.
  const std::uint64_t blocks = (9u << 20) / 34;
  std::string file = Pad(H(3, 1, 0) + Ti("t", {blocks * 32}, 8, 0));
  const std::uint64_t data = file.size();
  for (std::uint64_t i = 0; i < blocks * 34; ++i) {
    file += static_cast<char>(i % 34 == 1 ? 0x3c : 1);
  }
  file[data + (blocks - 1) * 34 + 1] = 0x7c;
  file[data + (blocks - 1) * 34] = 0;
  GgufInput input;
  input.prefix = {reinterpret_cast<const std::uint8_t*>(file.data()),
                  file.size()};
  input.file_size = file.size();
  input.profile = GgufProfile::kGgml;
  const GgufResult result = ParseGguf(input);
  const auto* view = std::get_if<GgufView>(&result);
  ASSERT_NE(view, nullptr);
  std::atomic<std::uint64_t> before = 0, after = 0;
  GgufDataOptions options;
  options.threads = 3;
  options.before = [&](auto bytes) { before += bytes.size(); };
  options.after = [&](auto bytes) { after += bytes.size(); };
  const auto found = CheckGgufValues(*view, options);
  EXPECT_EQ(before, blocks * 34);
  EXPECT_EQ(after, blocks * 34);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(Rules()[found[0].rule].id, "gguf.values.scale_inf");
  EXPECT_EQ(found[0].block, blocks - 1);
  EXPECT_EQ(found[0].offset, data + (blocks - 1) * 34);
  EXPECT_EQ(found[0].count, 1u);
}

}  // namespace
}  // namespace weightproof::impls::testing
