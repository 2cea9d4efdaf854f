// Drivers that misbehave, through the real runner: each gets its own verdict,
// and every run goes on to its end.
#include <gmock/gmock.h>

#include <map>

#include "conformance/testing/run_testing.h"

namespace weightproof::conformance {
namespace {

struct Expected {
  const char* verdict;
  const char* in_reason;
};

const std::map<std::string, Expected>& Modes() {
  static const std::map<std::string, Expected> kModes = {
      {"garbage", {"protocol-error", "not JSON"}},
      {"partial", {"protocol-error", "in the middle of an answer"}},
      {"invalid-utf8", {"protocol-error", "not JSON"}},
      {"deep", {"protocol-error", "nested deeper"}},
      {"wrong-id", {"protocol-error", "has id 7"}},
      {"unknown-verdict", {"protocol-error", "unknown verdict maybe"}},
      {"error-answer", {"protocol-error", "no"}},
      {"lies", {"not-implemented", "declared in hello"}},
      {"flood", {"protocol-error", "longer than 64 MiB"}},
      {"exit", {"crash", "exit 3"}},
      {"exit-zero", {"crash", "exit 0"}},
      {"segv", {"crash", "SIGSEGV"}},
      {"abort", {"crash", "SIGABRT"}},
      {"hang-cpu", {"hang", "CPU-seconds"}},
      {"hang-sleep", {"hang", "no answer after"}},
      {"memory", {"out-of-memory", "over the limit of 128 MiB"}},
      {"close-output", {"protocol-error", "closed its output"}},
      {"fork-and-exit", {"crash", "exit 5"}},
      {"fork-bomb", {"protocol-error", "processes, over the limit"}},
      {"flips", {"nondeterministic", "asked again"}},
      {"tired", {"nondeterministic", "asked again"}},
      {"stalls-once", {"crash", "SIGSEGV"}},
      {"fork-and-answer", {"reject", ""}},
      {"out-of-order", {"hang", "no answer after"}},
      {"", {"reject", ""}},
  };
  return kModes;
}

constexpr const char* kVector =
    R"({"id":"ID","format":"gguf","operation":"gguf.parse",)"
    R"("rule":"gguf.header.magic.wrong","bytes":[{"hex":"00000000"}],)"
    R"("expect":{"spec":{"verdict":"reject","rule":"gguf.header.magic.wrong",)"
    R"("offset":0},"ggml":{"verdict":"reject",)"
    R"("rule":"gguf.header.magic.wrong","offset":0},)"
    R"("candle":{"verdict":"reject","rule":"gguf.header.magic.wrong",)"
    R"("offset":0}}})";

class HostileTest : public RunTest {
 protected:
  HostileTest() {
    std::string vectors;
    for (const char* id : {"a-1", "b-2", "c-trigger", "d-4", "e-5"}) {
      std::string vector = kVector;
      vector.replace(vector.find("ID"), 2, id);
      vectors += (vectors.empty() ? "" : ",") + vector;
    }
    options_.vectors_dir = root_ / "vectors";
    Write(options_.vectors_dir / "v.json",
          R"({"format":"weightproof.vectors.v1","set_version":"1.0.0",)"
          R"("vectors":[)" +
              vectors + "]}");
  }
  void AddDriver(const std::string& mode) {
    const std::string name = "hostile/" + (mode.empty() ? "none" : mode);
    Write(options_.drivers_dir / ("d_" + mode) / "driver.json",
          R"({"name":"hostile","version":"1","language":"C++",)"
          R"("limits":{"memory_bytes":134217728,"cpu_seconds":0.3,)"
          R"("wall_seconds":5,"processes":16},"instances":[{"name":")" +
              name + R"(","command":["{bin}/hostile_driver",")" + mode +
              R"("]}]})");
    options_.names.push_back(name);
  }
};

TEST_F(HostileTest, EveryMisdeedHasItsVerdictAndTheRunGoesOn) {
  for (const auto& [mode, expected] : Modes()) AddDriver(mode);
  const RunResult result = RunIt();
  EXPECT_TRUE(result.canary_caught) << result.canary_detail;
  EXPECT_EQ(result.rows.size(), 5 * Modes().size());
  for (const auto& [mode, expected] : Modes()) {
    const std::string name = "hostile/" + (mode.empty() ? "none" : mode);
    SCOPED_TRACE(name);
    const Row* row = Find(result, name, "c-trigger");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->verdict, expected.verdict) << row->reason;
    EXPECT_THAT(row->reason, testing::HasSubstr(expected.in_reason));
    const bool good = row->verdict == "reject";
    EXPECT_EQ(row->outcome, good ? Outcome::kPass : Outcome::kFail);
    for (const char* other : {"a-1", "b-2", "d-4", "e-5"}) {
      const Row* neighbour = Find(result, name, other);
      ASSERT_NE(neighbour, nullptr);
      EXPECT_EQ(neighbour->outcome, Outcome::kPass)
          << other << ": " << neighbour->reason;
    }
  }
  const Row* aborted = Find(result, "hostile/abort", "c-trigger");
  EXPECT_EQ(aborted->stderr_tail, "assertion failed: it was not so\n");
  EXPECT_EQ(ExitCode(result), 1);
}

TEST_F(HostileTest, ADriverWithoutHelloIsUnusableAndTheOthersRun) {
  for (const char* mode : {"", "silent", "bad-hello"}) AddDriver(mode);
  const RunResult result = RunIt();
  ASSERT_EQ(result.implementations.size(), 3u);
  EXPECT_EQ(result.implementations[0].name, "hostile/bad-hello");
  EXPECT_EQ(result.implementations[0].status, ImplementationStatus::kUnusable);
  EXPECT_EQ(result.implementations[0].why,
            "the answer to hello: \"protocol\" is not 1");
  EXPECT_EQ(result.implementations[1].status, ImplementationStatus::kRan);
  EXPECT_THAT(result.implementations[2].why,
              testing::StartsWith("hang before hello was answered"));
  EXPECT_EQ(result.executed, 5u);
  EXPECT_EQ(ExitCode(result), 3);
}

TEST_F(HostileTest, ACommandThatDoesNotExistIsUnusable) {
  options_.driver_command = "/no/such/driver --flag";
  const RunResult result = RunIt();
  EXPECT_EQ(result.implementations[0].status, ImplementationStatus::kUnusable);
  EXPECT_EQ(ExitCode(result), 3);
}

TEST_F(HostileTest, OneShotCommandsAcceptRejectAndCrash) {
  options_.one_shot =
      "case {file} in *trigger*) kill -SEGV $$;; *b-2*) exit 0;; *) exit 1;; "
      "esac";
  const RunResult result = RunIt();
  const std::string name = result.implementations[0].name;
  EXPECT_EQ(Find(result, name, "a-1")->outcome, Outcome::kPass);
  EXPECT_EQ(Find(result, name, "b-2")->reason,
            "expected reject (gguf.header.magic.wrong at byte 0), got accept");
  EXPECT_EQ(Find(result, name, "c-trigger")->verdict, "crash");
  EXPECT_EQ(Find(result, name, "c-trigger")->signal, "SIGSEGV");
}

TEST_F(HostileTest, OneShotCommandsGetTheFileAsLastArgument) {
  options_.one_shot = "false";
  const RunResult result = RunIt();
  EXPECT_EQ(ExitCode(result), 0);  // all of these vectors are to be rejected
  const std::string name = result.implementations[0].name;
  EXPECT_EQ(Find(result, name, "b-2")->verdict, "reject");
  options_.one_shot = "test -e";
  EXPECT_EQ(ExitCode(RunIt()), 1);
}

TEST_F(HostileTest, UnknownNamesAndEmptySelectionsAreUsageErrors) {
  options_.names = {"no-such-thing"};
  EXPECT_EQ(ErrorOf().exit_code, 2);
  options_.names = {"reference"};
  options_.filter = {"a-1", "no-such-vector"};
  EXPECT_EQ(ErrorOf().exit_code, 2);
  EXPECT_EQ(ErrorOf().message,
            "--filter: no vector or rule matches no-such-vector");
}

TEST_F(HostileTest, WhatIsNotInstalledIsNotRunAndSaysWhy) {
  Write(options_.drivers_dir / "absent" / "driver.json",
        R"({"name":"absent","version":"1","language":"Go",
            "requires":["{installed}/bin/absent"],
            "instances":[{"name":"absent","command":["x"]}]})");
  options_.names = {"absent"};
  const RunError error = ErrorOf();
  EXPECT_EQ(error.exit_code, 3);
  EXPECT_THAT(error.message, testing::HasSubstr("absent is missing"));
}

TEST_F(HostileTest, BadDriverDataNamesFileAndPlace) {
  const auto file = options_.drivers_dir / "bad" / "driver.json";
  const auto message = [&](const std::string& text) {
    Write(file, text);
    const RunError error = ErrorOf();
    EXPECT_EQ(error.exit_code, 5);
    return error.message.substr(error.message.find("driver.json"));
  };
  EXPECT_THAT(message("{"), testing::HasSubstr("not JSON"));
  EXPECT_EQ(message(R"({"name":"n","version":"1","language":"C"})"),
            "driver.json: /instances: is missing");
  EXPECT_EQ(message(R"({"name":"n","version":"1","language":"C",
                        "instances":[{"name":"n","comand":[]}]})"),
            "driver.json: /instances/0/comand: unknown member");
  EXPECT_EQ(message(R"({"name":"n","version":"1","language":"C",
                        "limits":{"memory_bytes":-1},
                        "instances":[{"name":"n","command":["x"]}]})"),
            "driver.json: /limits/memory_bytes: not a positive number or "
            "null");
}

TEST_F(HostileTest, ShardsPartitionTheVectors) {
  AddDriver("");
  options_.shard = {0, 2};
  const RunResult first = RunIt();
  options_.shard = {1, 2};
  const RunResult second = RunIt();
  EXPECT_EQ(first.rows.size(), 3u);
  EXPECT_EQ(second.rows.size(), 2u);
}

TEST(ParseShard, ReadsOneBasedFractions) {
  EXPECT_EQ(ParseShard("3/16")->index, 2);
  EXPECT_EQ(ParseShard("3/16")->count, 16);
  for (const char* bad : {"", "3", "0/4", "5/4", "a/4", "1/b", "1/4x", "/"}) {
    EXPECT_FALSE(ParseShard(bad)) << bad;
  }
}

}  // namespace
}  // namespace weightproof::conformance
