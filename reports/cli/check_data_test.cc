// check --data and check --portable, as their users run them.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_paths.h"
#include "reports/cli/cli_testing.h"

namespace weightproof::cli {
namespace {

std::string Tensor(const std::string& name, std::uint64_t row,
                   std::uint32_t type, std::uint64_t offset) {
  return U64(name.size()) + name + U32(1) + U64(row) + U32(type) + U64(offset);
}

TEST_F(CliTest, CheckDataNamesTensorBlockAndByte) {
  // Two blocks of Q8_0; the scale of the second is NaN.
  std::string file =
      Header(2, 0) + Tensor("a\n", 64, 8, 0) + Tensor("zero", 8, 0, 96);
  file.resize((file.size() + 31) / 32 * 32, '\0');
  const std::size_t data = file.size();
  for (const char* scale : {"\x01\x3c", "\x01\x7e"}) {
    file += scale + std::string(31, '\1') + "\2";
  }
  file.resize(data + 96 + 32, '\0');
  const std::string path = Write("nan.gguf", file);
  EXPECT_EQ(Run("check " + path).exit_code, 0);
  for (const char* trusted : {"", "--trusted "}) {
    const Result result =
        Run(std::string("check --data --json ") + trusted + path);
    EXPECT_EQ(result.exit_code, 1);
    const Json found = Json::parse(result.out)["data"]["findings"];
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0]["rule"], "gguf.values.scale_nan");
    EXPECT_EQ(found[0]["name"], "a\n");
    EXPECT_EQ(found[0]["block"], 1);
    EXPECT_EQ(found[0]["offset"], data + 34);
    EXPECT_EQ(found[1]["rule"], "gguf.values.tensor_zero");
    EXPECT_EQ(found[1]["severity"], "ambiguous");
  }
  const Result human = Run("check --data " + path);
  EXPECT_THAT(human.out, HasSubstr("a\\n, block 1, at byte"));
  EXPECT_THAT(human.out, HasSubstr("the data, 100 of 2 tensors"));
  EXPECT_EQ(Run("check --data --fail-on hazard " + path).exit_code, 0);
}

TEST_F(CliTest, CheckDataOfALargeFileTakesLittleMemory) {
  constexpr std::uint64_t kRow = std::uint64_t{64} << 20;
  std::string file =
      Header(2, 0) + Tensor("a", kRow, 0, 0) + Tensor("b", kRow, 0, 4 * kRow);
  const std::string path = Write("large.gguf", file);
  const std::uint64_t start = (file.size() + 31) / 32 * 32;
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(start + 8 * kRow)), 0);
  const int pid = fork();
  if (pid == 0) {
    const int quiet = open("/dev/null", O_WRONLY);
    dup2(quiet, STDOUT_FILENO);
    execl(WEIGHTPROOF_BINARY_DIR "/bin/weightproof", "weightproof", "check",
          "--data", path.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  ASSERT_EQ(wait4(pid, &status, 0, &usage), pid);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_LT(usage.ru_maxrss, 64 << 10);  // kilobytes
}

TEST_F(CliTest, CheckPortableNamesReadersThatDiffer) {
  const std::string file = Write("24.gguf", Alignment(24));
  const Result result = Run("check --portable --json " + file);
  EXPECT_EQ(result.exit_code, 1);
  const Json divergence = Json::parse(result.out)["divergence"];
  bool found = false;
  for (const Json& rule : divergence) {
    if (rule["rule"] != "gguf.align.value.multiple_of_8") continue;
    found = true;
    EXPECT_EQ(rule["profiles"]["ggml"], "reject");
  }
  EXPECT_TRUE(found) << divergence;
  EXPECT_THAT(Run("check --portable " + file).out, HasSubstr("not portable: "));
}

}  // namespace
}  // namespace weightproof::cli
