// The built program, run as its users run it.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "build_paths.h"

namespace weightproof::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

struct Result {
  int exit_code = -1;
  std::string out;
  std::string err;
};

std::string Slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Little-endian pieces of a GGUF file.
std::string U32(std::uint32_t value) {
  std::string out;
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
std::string U64(std::uint64_t value) {
  return U32(static_cast<std::uint32_t>(value)) +
         U32(static_cast<std::uint32_t>(value >> 32));
}
std::string Header(std::uint64_t tensors, std::uint64_t kvs) {
  return "GGUF" + U32(3) + U64(tensors) + U64(kvs);
}
std::string Kv(const std::string& key, std::uint32_t type,
               const std::string& value) {
  return U64(key.size()) + key + U32(type) + value;
}
std::string Alignment(std::uint32_t value) {
  return Header(0, 1) + Kv("general.alignment", 4, U32(value));
}

class CliTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "weightproof_cli.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& contents) {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
    return (folder_ / name).string();
  }

  // Runs the program through a shell; arguments are shell text.
  Result Run(const std::string& arguments) {
    const std::string command = fmt::format(
        "cd {0} && {1}/bin/weightproof {2} >{0}/.out 2>{0}/.err </dev/null",
        folder_.string(), WEIGHTPROOF_BINARY_DIR, arguments);
    Result result;
    const int status = std::system(command.c_str());
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -status;
    result.out = Slurp(folder_ / ".out");
    result.err = Slurp(folder_ / ".err");
    return result;
  }

  Json CheckJson(const std::string& file, const std::string& options = "") {
    const Result result = Run("check --json " + options + " " + file);
    EXPECT_EQ(result.out.find('\n') + 1, result.out.size()) << result.out;
    return Json::parse(result.out, nullptr, false);
  }

  fs::path folder_;
};

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

TEST_F(CliTest, OutputEscapesHostileNames) {
  const std::string name = "evil\x1b[2J\n.gguf";
  Write(name, Alignment(0));
  const Result result = Run("check .");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(result.out, HasSubstr("evil\\x1b[2J\\n.gguf"));
  const Result key = Run(
      "check " + Write("key.gguf", Header(0, 1) + Kv("\x1b]0;x\x07", 99, "")));
  EXPECT_THAT(key.out + key.err, Not(HasSubstr("\x1b")));
}

TEST_F(CliTest, UsageErrorsNameTheOption) {
  Result result = Run("check --frobnicate x.gguf");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--frobnicate"));
  result = Run("check --fail-on sometimes x.gguf");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--fail-on"));
  result = Run("check");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("PATH"));
  EXPECT_EQ(Run("").exit_code, 2);
  EXPECT_EQ(Run("dance").exit_code, 2);
  EXPECT_EQ(Run("--help").exit_code, 0);
  EXPECT_THAT(Run("check --help").out, HasSubstr("--fail-on"));
}

TEST_F(CliTest, OutputToAFullDeviceIsAnError) {
  const std::string file = Write("ok.gguf", Alignment(32));
  const std::string command =
      fmt::format("{}/bin/weightproof check {} >/dev/full 2>/dev/null",
                  WEIGHTPROOF_BINARY_DIR, file);
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 5);
}

TEST_F(CliTest, ListGivesOneObjectPerVector) {
  const Result result = Run("list --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(result.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json json = Json::parse(line);
    for (const char* key : {"id", "format", "operation", "rule", "expected"}) {
      EXPECT_TRUE(json.contains(key)) << key << line;
    }
  }
  EXPECT_GT(count, 50);
}

TEST_F(CliTest, ExplainTellsARule) {
  const Result result = Run("explain gguf.align.value.zero");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("general.alignment"));
  EXPECT_THAT(result.out, HasSubstr("spec reject"));
  EXPECT_THAT(result.out, HasSubstr("hazard"));
}

TEST_F(CliTest, ExplainShowsAFileFieldByField) {
  const Result result = Run("explain " + Write("zero.gguf", Alignment(0)));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("header.magic"));
  EXPECT_THAT(result.out, HasSubstr("kv[0].value"));
  EXPECT_THAT(result.out, HasSubstr("53 ^ gguf.align.value.zero: "));
}

TEST_F(CliTest, ExplainAbbreviatesLongArrays) {
  std::string contents = Header(0, 1) + Kv("a", 9, U32(8) + U64(100));
  for (int i = 0; i < 100; ++i) contents += U64(1) + "x";
  const Result result = Run("explain " + Write("long.gguf", contents));
  EXPECT_THAT(result.out, HasSubstr("kv[0].value[3]"));
  EXPECT_THAT(result.out, Not(HasSubstr("kv[0].value[50]")));
  EXPECT_THAT(result.out, HasSubstr("192 more"));
}

TEST_F(CliTest, ExplainSuggestsNames) {
  const Result result = Run("explain align.value.zer");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("gguf.align.value.zero"));
}

TEST_F(CliTest, AsmWritesTheFileOfARecipe) {
  const std::string recipe = Write("zero.recipe",
                                   "recipe zero-1\n"
                                   "rule gguf.align.value.zero\n"
                                   "verdict reject at a.value\n"
                                   "gguf 3 0 1\n"
                                   "a: kv \"general.alignment\" u32 0\n");
  ASSERT_EQ(Run("asm " + recipe + " -o out.gguf").exit_code, 0);
  EXPECT_EQ(Slurp(folder_ / "out.gguf"), Alignment(0));
  ASSERT_EQ(Run("asm " + recipe + " -o folder").exit_code, 0);
  EXPECT_EQ(Slurp(folder_ / "folder" / "zero-1.gguf"), Alignment(0));
  const Result result = Run("asm " + Write("bad.recipe", "gguf 3 0\nfrob\n"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("bad.recipe:"));
}

TEST_F(CliTest, DisasmGivesARecipeOfTheSameBytes) {
  const std::string file = Write("zero.gguf", Alignment(0));
  const Result text = Run("disasm " + file);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("general.alignment"));
  ASSERT_EQ(Run("disasm " + file + " -o again.recipe").exit_code, 0);
  ASSERT_EQ(Run("asm again.recipe -o again.gguf").exit_code, 0);
  EXPECT_EQ(Slurp(folder_ / "again.gguf"), Alignment(0));
  EXPECT_EQ(Run("disasm missing.gguf").exit_code, 1);
}

TEST_F(CliTest, AsmKeepsInsideItsFolder) {
  const std::string recipe =
      Write("evil.recipe", "recipe ../../evil\nrule x\nverdict accept\nu8 1\n");
  EXPECT_NE(Run("asm " + recipe + " -o folder").exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_.parent_path() / "evil.gguf"));
}

TEST_F(CliTest, ExportIsUsableWithoutUs) {
  const Result result = Run("export out");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::ifstream lines(folder_ / "out" / "expected.jsonl");
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json json = Json::parse(line);
    EXPECT_FALSE(json.contains("bytes"));
    if (json.contains("file") && json["file"].is_string()) {
      EXPECT_TRUE(
          fs::exists(folder_ / "out" / json["file"].get<std::string>()));
    }
  }
  EXPECT_GT(count, 50);
  const std::string check = fmt::format(
      "cd {}/out && sha256sum --quiet -c SHA256SUMS", folder_.string());
  EXPECT_EQ(std::system(check.c_str()), 0);
}

// ---- run and what comes after it ----

// A driver that accepts everything.
constexpr const char* kYes = "--one-shot 'test -e {file}'";

class CliRunTest : public CliTest {
 protected:
  // A run over two rules into a folder.
  Result RunInto(const std::string& folder, const std::string& what) {
    return Run(fmt::format(
        "run {} --filter gguf.align.value.zero gguf.align.value.default "
        "--out {} --journal {}.jsonl",
        what, folder, folder));
  }
  Json Report(const std::string& folder) {
    return Json::parse(Slurp(folder_ / folder / "report.json"), nullptr, false);
  }
};

TEST_F(CliRunTest, ABuiltInReaderConforms) {
  const Result result = RunInto("out", "gguf_view");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("CONFORMING"));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
  const Json report = Report("out");
  EXPECT_EQ(report["summary"]["conclusion"], "conforming");
  EXPECT_EQ(report["summary"]["canary"]["caught"], true);
  for (const char* name :
       {"report.html", "report.md", "junit.xml", "badge.json"}) {
    EXPECT_TRUE(fs::exists(folder_ / "out" / name)) << name;
  }
}

TEST_F(CliRunTest, TwoRunsDifferOnlyInRun) {
  ASSERT_EQ(RunInto("a", "gguf_view reference").exit_code, 0);
  ASSERT_EQ(RunInto("b", "gguf_view reference").exit_code, 0);
  const std::string a = Slurp(folder_ / "a" / "report.json");
  const std::string b = Slurp(folder_ / "b" / "report.json");
  const auto stable = [](const std::string& text) {
    return text.substr(0, text.find("\n \"run\": "));
  };
  EXPECT_GT(stable(a).size(), 1000u);
  EXPECT_EQ(stable(a), stable(b));
}

TEST_F(CliRunTest, ADriverThatAcceptsEverythingFails) {
  const Result result = RunInto("out", kYes);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("NOT CONFORMING"));
  EXPECT_THAT(result.out, HasSubstr("gguf.align.value.zero  hazard"));
  EXPECT_THAT(Slurp(folder_ / "out" / "report.html"),
              HasSubstr("id=\"r-gguf.align.value.zero\""));
}

TEST_F(CliRunTest, ReproShowsOneFailure) {
  const Result result =
      Run(fmt::format("repro {} gguf.align.value.zero-no_tensors", kYes));
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("expected   reject"));
  EXPECT_THAT(result.out, HasSubstr("got        accepted"));
  EXPECT_THAT(result.out, HasSubstr("general.alignment"));
  EXPECT_THAT(result.out, HasSubstr("[00]"));
  EXPECT_EQ(Run("repro gguf_view gguf.align.value.zero-no_tensors").exit_code,
            0);
  EXPECT_EQ(Run("repro gguf_view").exit_code, 2);
  EXPECT_EQ(Run("repro gguf_view gguf.no.such-1").exit_code, 2);
}

TEST_F(CliRunTest, ReportRendersAgainFromReportAndJournal) {
  ASSERT_EQ(RunInto("out", kYes).exit_code, 1);
  const Result html = Run("report out/report.json --format html");
  EXPECT_EQ(html.exit_code, 0) << html.err;
  EXPECT_EQ(html.out, Slurp(folder_ / "out" / "report.html"));
  EXPECT_THAT(Run("report out/report.json --format markdown").out,
              HasSubstr("## Weightproof: not conforming"));
  Write("broken.json", "{\"format\":\"weightproof.report.v1\"}");
  const Result broken = Run("report broken.json");
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_THAT(broken.err, HasSubstr("broken.json"));
  EXPECT_EQ(Run("report missing.json").exit_code, 1);
  EXPECT_EQ(Run("report out/report.json --format pdf").exit_code, 2);
}

TEST_F(CliRunTest, DiffFindsWhatGotWorse) {
  ASSERT_EQ(RunInto("good", "gguf_view").exit_code, 0);
  Json report = Report("good");
  for (Json& row : report["rows"]) {
    if (row["rule"] != "gguf.align.value.zero") continue;
    row["outcome"] = "fail";
    row["verdict"] = "accept";
  }
  Write("worse.json", report.dump());
  const Result worse = Run("diff good/report.json worse.json");
  EXPECT_EQ(worse.exit_code, 1) << worse.err;
  EXPECT_THAT(worse.out, HasSubstr("worse    gguf_view"));
  EXPECT_THAT(worse.out, HasSubstr("pass (rejected) -> fail (accepted)"));
  EXPECT_EQ(Run("diff worse.json good/report.json").exit_code, 0);
  EXPECT_EQ(Run("diff good/report.json good/report.json").out,
            "0 worse, 0 better, 0 otherwise changed, 0 added, 0 removed\n");
  EXPECT_EQ(Run("diff good/report.json missing.json").exit_code, 2);
}

TEST_F(CliRunTest, UsageErrorsOfRunNameTheOption) {
  EXPECT_THAT(Run("run --shard 5/3").err, HasSubstr("--shard"));
  EXPECT_EQ(Run("run --shard 5/3").exit_code, 2);
  EXPECT_EQ(Run("run --driver x --one-shot y").exit_code, 2);
  EXPECT_EQ(Run("run gguf_view --filter no.such.rule --out o").exit_code, 2);
  EXPECT_EQ(Run("run no_such_implementation --out o").exit_code, 2);
}

TEST_F(CliRunTest, DoctorFindsTheHarnessInOrder) {
  const Result result = Run("doctor");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("the planted bug is caught"));
  EXPECT_THAT(result.out, HasSubstr("The harness works."));
}

}  // namespace
}  // namespace weightproof::cli
