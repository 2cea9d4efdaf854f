#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "build_paths.h"
#include "reports/cli/cli_testing.h"

namespace weightproof::cli {
namespace {

TEST_F(CliTest, CheckNamesRuleOffsetAndSeverityPerProfile) {
  const std::string file = Write("zero.gguf", Alignment(0));
  const Json json = CheckJson(file);
  EXPECT_EQ(json.size(), 3u);
  EXPECT_EQ(json["file"], file);
  EXPECT_EQ(json["format"], "gguf");
  EXPECT_EQ(json["profiles"].size(), 3u);
  for (const char* profile : {"spec", "ggml", "candle"}) {
    const Json& finding = json["profiles"][profile];
    EXPECT_EQ(finding.size(), 6u);
    EXPECT_EQ(finding["verdict"], "reject");
    EXPECT_EQ(finding["rule"], "gguf.align.value.zero");
    EXPECT_EQ(finding["offset"], 53);
    EXPECT_EQ(finding["severity"], "hazard");
    EXPECT_TRUE(finding["detail"].is_string());
    EXPECT_EQ(finding["policies"], Json::array());
  }
  EXPECT_EQ(Run("check " + file).exit_code, 1);
  EXPECT_EQ(Run("check --fail-on hazard " + file).exit_code, 1);
  EXPECT_EQ(Run("check --trusted " + file).exit_code, 1);
}

TEST_F(CliTest, CheckAcceptsAHealthyFile) {
  const std::string file = Write("ok.gguf", Alignment(32));
  const Json finding = CheckJson(file)["profiles"]["spec"];
  EXPECT_EQ(finding["verdict"], "accept");
  EXPECT_TRUE(finding["rule"].is_null());
  EXPECT_TRUE(finding["offset"].is_null());
  EXPECT_EQ(finding["severity"], "none");
  const Result result = Run("check " + file);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("accepted by spec, ggml, candle"));
  EXPECT_THAT(result.out, HasSubstr("of 57 bytes"));
}

TEST_F(CliTest, CheckTellsProfilesApart) {
  const std::string file = Write("24.gguf", Alignment(24));
  const Json profiles = CheckJson(file)["profiles"];
  EXPECT_EQ(profiles["spec"]["verdict"], "accept");
  EXPECT_EQ(profiles["ggml"]["verdict"], "reject");
  EXPECT_EQ(profiles["ggml"]["rule"], "gguf.align.value.multiple_of_8");
  EXPECT_EQ(profiles["ggml"]["severity"], "ambiguous");
  EXPECT_EQ(Run("check " + file).exit_code, 0);
  EXPECT_EQ(Run("check --fail-on ambiguous " + file).exit_code, 1);
  EXPECT_EQ(Run("check --fail-on ambiguous --profile spec " + file).exit_code,
            0);
  EXPECT_EQ(CheckJson(file, "--profile ggml")["profiles"].size(), 1u);
}

TEST_F(CliTest, CheckListsPolicies) {
  const std::string file =
      Write("policy.gguf", Header(0, 1) + Kv("Not.Snake", 4, U32(1)));
  const Json finding = CheckJson(file)["profiles"]["spec"];
  EXPECT_EQ(finding["verdict"], "accept");
  EXPECT_EQ(finding["policies"], Json::array({"gguf.kv.key.grammar"}));
  EXPECT_EQ(finding["severity"], "ambiguous");
  EXPECT_EQ(Run("check " + file).exit_code, 0);
  EXPECT_EQ(Run("check --fail-on ambiguous " + file).exit_code, 1);
}

TEST_F(CliTest, CheckIsInconclusiveAboutTheFuture) {
  const std::string file =
      Write("future.gguf", "GGUF" + U32(9) + U64(0) + U64(0));
  EXPECT_EQ(CheckJson(file)["profiles"]["spec"]["verdict"], "unsupported");
  EXPECT_EQ(Run("check " + file).exit_code, 6);
  const std::string bad = Write("bad.gguf", "GGUB");
  EXPECT_EQ(Run("check " + file + " " + bad).exit_code, 1);
}

TEST_F(CliTest, CheckReportsWhatCannotBeRead) {
  const auto error = [&](const std::string& path) {
    const Json json = CheckJson(path);
    EXPECT_EQ(json.size(), 2u) << json;
    EXPECT_EQ(Run("check " + path).exit_code, 1);
    return json.value("error", "");
  };
  EXPECT_EQ(error("missing.gguf"), "not-found");
  EXPECT_EQ(error("/dev/zero"), "not-a-file");
  ASSERT_EQ(mkfifo((folder_ / "fifo.gguf").c_str(), 0600), 0);
  EXPECT_EQ(error("fifo.gguf"), "not-a-file");
  fs::create_directory(folder_ / "empty");
  EXPECT_EQ(error("empty"), "no-files");
}

TEST_F(CliTest, CheckWritesSarif) {
  fs::create_directory(folder_ / "sub");
  const std::string bad = Write("sub/zero 1.gguf", Alignment(0));
  Write("ok.gguf", Alignment(32));
  Write("24.gguf", Alignment(24));
  Write("cut.gguf", Alignment(32).substr(0, 20));
  const Result result = Run("check --sarif ok.gguf sub 24.gguf cut.gguf none");
  EXPECT_EQ(result.exit_code, 1);
  const Json sarif = Json::parse(result.out);
  EXPECT_EQ(sarif["version"], "2.1.0");
  ASSERT_EQ(sarif["runs"].size(), 1u);
  const Json& run = sarif["runs"][0];
  ASSERT_EQ(run["results"].size(), 3u);
  ASSERT_EQ(run["tool"]["driver"]["rules"].size(), 3u);
  const auto place = [&](int i) {
    return run["results"][i]["locations"][0]["physicalLocation"];
  };
  EXPECT_EQ(run["results"][0]["ruleId"], "gguf.align.value.zero");
  EXPECT_EQ(run["results"][0]["level"], "error");
  EXPECT_THAT(run["results"][0]["message"]["text"].get<std::string>(),
              HasSubstr("spec reject, ggml reject, candle reject"));
  EXPECT_EQ(place(0)["artifactLocation"]["uri"], "sub/zero%201.gguf");
  EXPECT_EQ(place(0)["region"], (Json{{"byteOffset", 53}, {"byteLength", 1}}));
  EXPECT_EQ(run["results"][1]["ruleId"], "gguf.align.value.multiple_of_8");
  EXPECT_EQ(run["results"][1]["level"], "note");
  EXPECT_EQ(run["results"][2]["ruleId"], "gguf.header.counts.truncated");
  EXPECT_EQ(place(2)["region"], (Json{{"byteOffset", 20}, {"byteLength", 0}}));
  const Json& trouble = run["invocations"][0];
  EXPECT_EQ(trouble["executionSuccessful"], false);
  ASSERT_EQ(trouble["toolExecutionNotifications"].size(), 1u);
  const Json clean = Json::parse(Run("check --sarif ok.gguf").out);
  EXPECT_EQ(clean["runs"][0]["results"], Json::array());
  EXPECT_FALSE(clean["runs"][0].contains("invocations"));
  EXPECT_EQ(Run("check --sarif --json ok.gguf").exit_code, 2);
}

TEST_F(CliTest, CheckSaysWhatAnUnprivilegedUserMayNotRead) {
  const std::string file = Write("secret.gguf", Alignment(32));
  fs::permissions(folder_, fs::perms::all);
  fs::permissions(file, fs::perms::none);
  const pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(99);
    if (open(file.c_str(), O_RDONLY) >= 0) _exit(98);
    const std::string out = (folder_ / "json").string();
    if (freopen(out.c_str(), "w", stdout) == nullptr) _exit(97);
    execl(WEIGHTPROOF_BINARY_DIR "/bin/weightproof", "weightproof", "check",
          "--json", file.c_str(), nullptr);
    _exit(96);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(Json::parse(Slurp(folder_ / "json"))["error"], "unreadable");
}

TEST_F(CliTest, CheckJudgesASplitSetOnceAndItsFilesToo) {
  const auto shard = [](std::uint16_t no) {
    const auto u16 = [](std::uint16_t value) {
      return U32(value).substr(0, 2);
    };
    return Header(0, 3) + Kv("split.no", 2, u16(no)) +
           Kv("split.count", 2, u16(2)) + Kv("split.tensors.count", 5, U32(0));
  };
  fs::create_directories(folder_ / "set");
  Write("set/m-00001-of-00002.gguf", shard(0));
  Write("set/m-00002-of-00002.gguf", shard(1));
  const auto lines = [&](const std::string& arguments) {
    std::istringstream text(Run("check --json " + arguments).out);
    std::vector<Json> out;
    for (std::string line; std::getline(text, line);) {
      out.push_back(Json::parse(line));
    }
    return out;
  };
  std::vector<Json> json = lines("set");
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json[2]["files"].size(), 2u);
  EXPECT_EQ(json[2]["profiles"]["spec"]["verdict"], "accept");
  EXPECT_EQ(Run("check --profile spec set").exit_code, 0);
  fs::remove(folder_ / "set" / "m-00002-of-00002.gguf");
  json = lines("set/m-00001-of-00002.gguf");
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[1]["profiles"]["spec"]["verdict"], "reject");
  EXPECT_EQ(json[1]["profiles"]["spec"]["rule"], "gguf.split.set.missing");
  EXPECT_EQ(json[1]["profiles"]["spec"]["file"], 0);
  EXPECT_EQ(Run("check set").exit_code, 1);
}

TEST_F(CliTest, CheckWalksFoldersInOrder) {
  fs::create_directories(folder_ / "models" / "deep");
  Write("models/b.gguf", Alignment(32));
  Write("models/deep/a.gguf", Alignment(0));
  Write("models/readme.txt", "not a model");
  const Result result = Run("check --json models");
  EXPECT_EQ(result.exit_code, 1);
  std::istringstream lines(result.out);
  std::vector<std::string> files;
  for (std::string line; std::getline(lines, line);) {
    files.push_back(Json::parse(line)["file"]);
  }
  EXPECT_THAT(files,
              testing::ElementsAre("models/b.gguf", "models/deep/a.gguf"));
}

TEST_F(CliTest, CheckJudgesEmptyAndTinyFiles) {
  const Json json = CheckJson(Write("empty.gguf", ""));
  EXPECT_EQ(json["profiles"]["spec"]["rule"], "gguf.header.magic.truncated");
  EXPECT_EQ(json["profiles"]["spec"]["offset"], 0);
}

TEST_F(CliTest, CheckReadsAHugeSparseFile) {
  const std::string file = Write("huge.gguf", Alignment(0));
  ASSERT_EQ(truncate(file.c_str(), off_t{1} << 40), 0);
  EXPECT_EQ(CheckJson(file)["profiles"]["spec"]["rule"],
            "gguf.align.value.zero");
}

TEST_F(CliTest, CheckSurvivesAFileThatShrinks) {
  // A long list of empty strings, cut again and again while it is read.
  const std::uint64_t n = 1 << 20;
  std::string contents =
      Header(0, 1) + Kv("a", 9, U32(8) + U64(n)) + std::string(n * 8, '\0');
  const std::string file = Write("shrinking.gguf", contents);
  std::atomic<bool> stop = false;
  std::thread cutter([&] {
    while (!stop) {
      if (truncate(file.c_str(), 100) != 0) break;
      if (truncate(file.c_str(), static_cast<off_t>(contents.size())) != 0) {
        break;
      }
    }
  });
  int changed = 0;
  for (int i = 0; i < 500 && changed == 0; ++i) {
    const Result result = Run("check --json shrinking.gguf");
    EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 1)
        << result.exit_code;
    const Json json = Json::parse(result.out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << result.out << result.err;
    changed += json.value("error", "") == "file-changed";
  }
  stop = true;
  cutter.join();
  EXPECT_GT(changed, 0);
}

}  // namespace
}  // namespace weightproof::cli
