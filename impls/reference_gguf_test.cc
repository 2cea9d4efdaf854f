// The trusted reader through the C ABI.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "impls/reference_ops.h"
#include "impls/registry.h"
#include "reference/gguf/test_file.h"

namespace weightproof::impls {
namespace {

using gguf::test::TestFile;

// Writes every call of a sink as a line.
struct Recorder {
  std::string text;
  wp_gguf_sink sink;

  static Recorder& Of(void* context) {
    return *static_cast<Recorder*>(context);
  }
  static std::string Text(wp_slice slice) {
    return {reinterpret_cast<const char*>(slice.data),
            static_cast<std::size_t>(slice.size)};
  }

  Recorder() {
    sink.context = this;
    sink.header = [](void* c, const wp_gguf_header* h) {
      Of(c).text += "header " + std::to_string(h->version) + " " +
                    std::to_string(h->big_endian) + " " +
                    std::to_string(h->alignment) + " " +
                    std::to_string(h->data_offset) + " " +
                    std::to_string(h->kv_count) + " " +
                    std::to_string(h->tensor_count) + "\n";
    };
    sink.key = [](void* c, wp_slice key, uint32_t type) {
      Of(c).text += "key " + Text(key) + " " + std::to_string(type) + "\n";
    };
    sink.scalars = [](void* c, uint32_t type, const void* values,
                      uint64_t count) {
      uint32_t first = 0;
      std::memcpy(&first, values, type == 4 ? 4 : 1);
      Of(c).text += "scalars " + std::to_string(type) + " " +
                    std::to_string(count) + " " + std::to_string(first) + "\n";
    };
    sink.string = [](void* c, wp_slice value) {
      Of(c).text += "string " + Text(value) + "\n";
    };
    sink.array_begin = [](void* c, uint32_t type, uint64_t count) {
      Of(c).text +=
          "array " + std::to_string(type) + " " + std::to_string(count) + "\n";
    };
    sink.array_end = [](void* c) { Of(c).text += "end\n"; };
    sink.tensor = [](void* c, const wp_gguf_tensor* t) {
      Of(c).text +=
          "tensor " + Text(t->name) + " " + std::to_string(t->n_dims) + " " +
          std::to_string(t->dims[0]) + " " + std::to_string(t->type) + " " +
          std::to_string(t->offset) + " " + std::to_string(t->size) + "\n";
    };
    sink.policy = [](void* c, const char* rule) {
      Of(c).text += "policy " + std::string(rule) + "\n";
    };
  }
};

wp_gguf_input InputOf(const TestFile& f, const char* profile = nullptr) {
  wp_gguf_input input{};
  input.data = {f.bytes.data(), f.bytes.size()};
  input.file_size = f.bytes.size();
  input.profile = profile;
  return input;
}

wp_answer Blank() {
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  return answer;
}

TestFile Sample() {
  TestFile f = TestFile().Header(3, 1, 3).Key("a", 8).String("x");
  f.Key("B", 9).Array(4, 2).U32(5).U32(6).Key("n", 9).Array(9, 1);
  f.Array(8, 1).String("");
  return f.Tensor("t", {8}, 0, 0).Pad().Fill(31, 1).Fill(1, 2);
}

TEST(ReferenceGguf, IsBuiltIn) {
  EXPECT_EQ(FindBuiltIn("reference"), ReferenceImplementation());
}

TEST(ReferenceGguf, SendsAnAcceptedFileInOrder) {
  const TestFile f = Sample();
  Recorder recorder;
  wp_answer answer = Blank();
  const wp_gguf_input input = InputOf(f);
  ReferenceGgufParse(&input, &recorder.sink, &answer);
  EXPECT_EQ(answer.status, WP_STATUS_OK);
  EXPECT_EQ(answer.verdict, WP_ACCEPT);
  EXPECT_EQ(answer.rule, nullptr);
  EXPECT_EQ(answer.offset, WP_NO_OFFSET);
  EXPECT_EQ(recorder.text,
            "header 3 0 32 " + std::to_string(f.At("data")) +
                " 3 1\n"
                "key a 8\nstring x\n"
                "key B 9\narray 4 2\nscalars 4 2 5\nend\n"
                "key n 9\narray 9 1\narray 8 1\nstring \nend\nend\n"
                "tensor t 1 8 0 0 32\n"
                "policy gguf.kv.key.grammar\n");
}

TEST(ReferenceGguf, NamesRuleAndOffsetOfARefusal) {
  const TestFile f = TestFile().Header(3, 0, 1).Alignment(24);
  const wp_gguf_input spec = InputOf(f);
  const wp_gguf_input ggml = InputOf(f, "ggml");
  Recorder recorder;
  wp_answer answer = Blank();
  ReferenceGgufParse(&spec, &recorder.sink, &answer);
  EXPECT_EQ(answer.verdict, WP_ACCEPT);
  recorder.text.clear();
  answer = Blank();
  ReferenceGgufParse(&ggml, &recorder.sink, &answer);
  EXPECT_EQ(answer.status, WP_STATUS_OK);
  EXPECT_EQ(answer.verdict, WP_REJECT);
  EXPECT_STREQ(answer.rule, "gguf.align.value.multiple_of_8");
  EXPECT_EQ(answer.offset, f.At("vv"));
  EXPECT_STRNE(answer.detail, "");
  EXPECT_EQ(recorder.text, "");
}

TEST(ReferenceGguf, TellsUnsupportedAndLimitApart) {
  const TestFile future = TestFile().Header(4, 0, 0);
  wp_answer answer = Blank();
  Recorder recorder;
  wp_gguf_input input = InputOf(future);
  ReferenceGgufParse(&input, &recorder.sink, &answer);
  EXPECT_EQ(answer.verdict, WP_UNSUPPORTED);
  const TestFile many = TestFile().Header(3, 0, (1ull << 30) + 1);
  input = InputOf(many);
  input.file_size = 1ull << 40;
  answer = Blank();
  ReferenceGgufParse(&input, &recorder.sink, &answer);
  EXPECT_EQ(answer.verdict, WP_LIMIT);
}

TEST(ReferenceGguf, DoesNotRunOnAShortPrefixOrAForeignProfile) {
  const TestFile f = Sample();
  Recorder recorder;
  wp_answer answer = Blank();
  wp_gguf_input input = InputOf(f);
  input.data.size = 30;
  ReferenceGgufParse(&input, &recorder.sink, &answer);
  EXPECT_EQ(answer.status, WP_STATUS_NOT_RUN);
  EXPECT_STRNE(answer.detail, "");
  answer = Blank();
  input = InputOf(f, "mine");
  ReferenceGgufParse(&input, &recorder.sink, &answer);
  EXPECT_EQ(answer.status, WP_STATUS_NOT_IMPLEMENTED);
}

TEST(ReferenceGguf, ReturnsTheBytesOfATensor) {
  const TestFile f = Sample();
  std::string bytes;
  const wp_bytes_sink out = {
      &bytes, [](void* context, const void* data, uint64_t size) {
        static_cast<std::string*>(context)->append(
            static_cast<const char*>(data), size);
      }};
  wp_answer answer = Blank();
  wp_gguf_input input = InputOf(f);
  ReferenceGgufTensor(&input, 0, &out, &answer);
  EXPECT_EQ(answer.verdict, WP_ACCEPT);
  EXPECT_EQ(bytes, std::string(31, 1) + '\2');
  answer = Blank();
  ReferenceGgufTensor(&input, 1, &out, &answer);
  EXPECT_EQ(answer.verdict, WP_REJECT);
  answer = Blank();
  input.data.size = f.At("data");
  ReferenceGgufTensor(&input, 0, &out, &answer);
  EXPECT_EQ(answer.status, WP_STATUS_NOT_RUN);
}

TEST(ReferenceGguf, ReadsAKeyOnlyAsItsOwnType) {
  const TestFile f = Sample();
  const wp_gguf_input input = InputOf(f);
  const uint8_t name[] = {'a'};
  const uint8_t other[] = {'z'};
  Recorder recorder;
  wp_answer answer = Blank();
  ReferenceGgufGet(&input, {name, 1}, 8, &recorder.sink, &answer);
  EXPECT_EQ(answer.verdict, WP_ACCEPT);
  EXPECT_EQ(recorder.text, "key a 8\nstring x\n");
  recorder.text.clear();
  answer = Blank();
  ReferenceGgufGet(&input, {name, 1}, 4, &recorder.sink, &answer);
  EXPECT_EQ(answer.verdict, WP_REJECT);
  EXPECT_STREQ(answer.rule, "gguf.kv.access.typed");
  EXPECT_EQ(recorder.text, "");
  answer = Blank();
  ReferenceGgufGet(&input, {other, 1}, 8, &recorder.sink, &answer);
  EXPECT_EQ(answer.verdict, WP_REJECT);
  EXPECT_EQ(answer.rule, nullptr);
}

}  // namespace
}  // namespace weightproof::impls
