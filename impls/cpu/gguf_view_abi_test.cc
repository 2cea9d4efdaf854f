// gguf_tensor and gguf_get of the optimized reader.
#include <gtest/gtest.h>

#include "impls/cpu/gguf_view.h"
#include "impls/cpu/gguf_view_testing.h"

namespace weightproof::impls::testing {
namespace {

const wp_implementation& Reader() { return *GgufViewImplementation(); }

wp_gguf_input InputOf(const std::string& bytes) {
  wp_gguf_input input{};
  input.data = {reinterpret_cast<const std::uint8_t*>(bytes.data()),
                bytes.size()};
  input.file_size = bytes.size();
  return input;
}

struct Bytes {
  wp_answer answer{};
  std::string bytes;
};

Bytes TensorBytes(const wp_gguf_input& input, std::uint64_t index) {
  Bytes out;
  out.answer.offset = WP_NO_OFFSET;
  wp_bytes_sink sink{&out.bytes,
                     [](void* context, const void* data, std::uint64_t size) {
                       static_cast<std::string*>(context)->append(
                           static_cast<const char*>(data), size);
                     }};
  Reader().gguf_tensor(&input, index, &sink, &out.answer);
  return out;
}

TEST(GgufViewTensor, GivesEachTensorsBytes) {
  for (const bool big : {false, true}) {
    const std::string file = RichFile(3, big);
    const wp_gguf_input input = InputOf(file);
    const std::string expected[] = {Times(64, "\x22"), Times(34, "\x11"), "",
                                    "\x33\x33", Times(144, "\x44")};
    for (std::uint64_t i = 0; i < 5; ++i) {
      const Bytes got = TensorBytes(input, i);
      EXPECT_EQ(got.answer.status, WP_STATUS_OK);
      EXPECT_EQ(got.answer.verdict, WP_ACCEPT);
      EXPECT_EQ(got.bytes, expected[i]) << i;
    }
  }
}

TEST(GgufViewTensor, RefusesWhatIsNotThere) {
  const std::string file = RichFile();
  wp_gguf_input input = InputOf(file);
  EXPECT_EQ(TensorBytes(input, 5).answer.verdict, WP_REJECT);
  EXPECT_EQ(TensorBytes(input, ~0ull).answer.verdict, WP_REJECT);
  input.data.size -= 1;
  EXPECT_EQ(TensorBytes(input, 0).answer.status, WP_STATUS_OK);
  EXPECT_EQ(TensorBytes(input, 4).answer.status, WP_STATUS_NOT_RUN);
}

TEST(GgufViewTensor, RefusesABrokenFileByItsRule) {
  const std::string file = H(0, 0, 0);
  const Bytes got = TensorBytes(InputOf(file), 0);
  EXPECT_EQ(got.answer.verdict, WP_REJECT);
  EXPECT_STREQ(got.answer.rule, "gguf.header.version.zero");
  EXPECT_EQ(got.answer.offset, 4u);
}

// What a sink was told: key, then one word for each event.
struct Got {
  wp_answer answer{};
  std::string events;
};

Got Get(const wp_gguf_input& input, const std::string& key,
        std::uint32_t type) {
  Got got;
  got.answer.offset = WP_NO_OFFSET;
  wp_gguf_sink sink{};
  sink.context = &got.events;
  sink.header = [](void* context, const wp_gguf_header*) {
    *static_cast<std::string*>(context) += "header ";
  };
  sink.key = [](void* context, wp_slice name, std::uint32_t value_type) {
    static_cast<std::string*>(context)
        ->append(reinterpret_cast<const char*>(name.data), name.size)
        .append(":" + std::to_string(value_type) + " ");
  };
  sink.scalars = [](void* context, std::uint32_t, const void* values,
                    std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      *static_cast<std::string*>(context) +=
          std::to_string(static_cast<const std::uint8_t*>(values)[4 * i]) + " ";
    }
  };
  sink.string = [](void* context, wp_slice value) {
    static_cast<std::string*>(context)->append(
        reinterpret_cast<const char*>(value.data), value.size);
  };
  sink.array_begin = [](void* context, std::uint32_t, std::uint64_t) {
    *static_cast<std::string*>(context) += "[ ";
  };
  sink.array_end = [](void* context) {
    *static_cast<std::string*>(context) += "] ";
  };
  sink.tensor = [](void*, const wp_gguf_tensor*) {};
  sink.policy = [](void*, const char*) {};
  const wp_slice name = {reinterpret_cast<const std::uint8_t*>(key.data()),
                         key.size()};
  Reader().gguf_get(&input, name, type, &sink, &got.answer);
  return got;
}

TEST(GgufViewGet, GivesTheValueIfTheTypeIsRight) {
  const std::string file = H(3, 0, 3) + Kv("n", 4, U32(7)) +
                           Kv("l", 9, A(4, 2) + U32(8) + U32(9)) +
                           Kv("s", 8, S("text"));
  const wp_gguf_input input = InputOf(file);
  EXPECT_EQ(Get(input, "n", 4).events, "n:4 7 ");
  EXPECT_EQ(Get(input, "l", 9).events, "l:9 [ 8 9 ] ");
  EXPECT_EQ(Get(input, "s", 8).events, "s:8 text");
  EXPECT_EQ(Get(input, "s", 8).answer.verdict, WP_ACCEPT);
}

TEST(GgufViewGet, AnotherTypeOrKeyIsRefused) {
  const std::string file = H(3, 0, 1) + Kv("n", 4, U32(7));
  const wp_gguf_input input = InputOf(file);
  for (const std::uint32_t type : {0u, 5u, 8u, 9u, 99u}) {
    const Got got = Get(input, "n", type);
    EXPECT_EQ(got.answer.status, WP_STATUS_OK);
    EXPECT_EQ(got.answer.verdict, WP_REJECT);
    EXPECT_EQ(got.events, "");
  }
  EXPECT_EQ(Get(input, "m", 4).answer.verdict, WP_REJECT);
  EXPECT_EQ(Get(input, "", 4).answer.verdict, WP_REJECT);
}

TEST(GgufViewGet, CandleTakesTheLastOfRepeatedKeys) {
  const std::string file = H(3, 0, 2) + Kv("n", 4, U32(1)) + Kv("n", 4, U32(2));
  wp_gguf_input input = InputOf(file);
  EXPECT_EQ(Get(input, "n", 4).answer.verdict, WP_REJECT);
  input.profile = "candle";
  EXPECT_EQ(Get(input, "n", 4).events, "n:4 2 ");
}

TEST(GgufViewProfiles, UnknownOneIsNotImplemented) {
  RunOptions options;
  options.profile = "no such profile";
  EXPECT_EQ(Parse(Reader(), H(3, 0, 0), options).status,
            WP_STATUS_NOT_IMPLEMENTED);
}

}  // namespace
}  // namespace weightproof::impls::testing
