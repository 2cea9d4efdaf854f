// Drivers that misbehave, each against the guard that must name it.
#include "conformance/driver.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace weightproof::conformance {
namespace {

constexpr const char* kHello =
    R"(read l; echo '{"id":0,"protocol":1,"name":"sh","version":"1",)"
    R"("language":"sh","operations":["gguf.parse"]}'; )";

class DriverTest : public testing::Test {
 protected:
  DriverTest() {
    char pattern[] = "/tmp/weightproof_driver_XXXXXX";
    directory_ = mkdtemp(pattern);
    spec_.directory = directory_ / "scratch";
    spec_.env = {"PATH=/usr/bin:/bin"};
  }
  ~DriverTest() override {
    session_.reset();
    std::filesystem::remove_all(directory_);
  }

  // A shell script as a driver; a script with its own hello starts with "!".
  std::string StartError(const std::string& script) {
    spec_.argv = {"/bin/sh", "-c",
                  script[0] == '!' ? script.substr(1) : kHello + script};
    auto session = DriverSession::Start(spec_, nullptr);
    if (!session) return session.error();
    session_ = std::move(*session);
    return "";
  }
  // The fate of one request after hello.
  Fate FateOf(const std::string& script) {
    const std::string error = StartError(script);
    EXPECT_EQ(error, "");
    if (!session_) return {};
    session_->Send({1, R"({"id":1})", false});
    auto answer = session_->Next();
    EXPECT_FALSE(answer) << *answer;
    return answer ? Fate{} : answer.error();
  }

  std::filesystem::path directory_;
  DriverSpec spec_;
  std::unique_ptr<DriverSession> session_;
};

TEST_F(DriverTest, AnswersComeInOrderAndPipelined) {
  ASSERT_EQ(StartError("while read l; do echo \"got $l\"; done"), "");
  EXPECT_EQ(session_->hello().name, "sh");
  for (std::uint64_t i = 1; i <= 500; ++i) {
    session_->Send({i, "r" + std::to_string(i), false});
  }
  for (int i = 1; i <= 500; ++i) {
    const auto line = session_->Next();
    ASSERT_TRUE(line) << line.error().detail;
    EXPECT_EQ(*line, "got r" + std::to_string(i));
  }
  EXPECT_EQ(session_->Finish(), std::nullopt);
}

TEST_F(DriverTest, AProgramThatDoesNotExistIsNamed) {
  spec_.argv = {"/no/such/driver"};
  const auto session = DriverSession::Start(spec_, nullptr);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error(), "/no/such/driver: No such file or directory");
  spec_.argv = {"no-such-driver-anywhere"};
  EXPECT_EQ(DriverSession::Start(spec_, nullptr).error(),
            "no-such-driver-anywhere: no such program");
  spec_.argv = {directory_};
  EXPECT_EQ(DriverSession::Start(spec_, nullptr).error(),
            directory_.string() + ": Permission denied");
}

TEST_F(DriverTest, ADeathBeforeHelloIsAnError) {
  EXPECT_EQ(StartError("!echo oops >&2; exit 3"),
            "crash before hello was answered: exit 3\noops\n");
  EXPECT_EQ(StartError("!read l; echo garbage"),
            "the answer to hello: not JSON: [json.exception.parse_error.101] "
            "parse error at line 1, column 1: syntax error while parsing "
            "value - invalid literal; last read: 'g'");
  EXPECT_EQ(StartError("!read l; echo '{\"id\":0}'"),
            "the answer to hello: \"protocol\" is not 1");
}

TEST_F(DriverTest, ExitsAndSignalsAreCrashesWithTheirName) {
  Fate fate = FateOf("read l; exit 3");
  EXPECT_EQ(fate.verdict, "crash");
  EXPECT_EQ(fate.signal, "exit 3");
  fate = FateOf("read l; echo bye >&2; kill -SEGV $$");
  EXPECT_EQ(fate.verdict, "crash");
  EXPECT_EQ(fate.signal, "SIGSEGV");
  EXPECT_EQ(fate.stderr_tail, "bye\n");
  fate = FateOf("read l; exit 0");
  EXPECT_EQ(fate.verdict, "crash");
  EXPECT_EQ(fate.signal, "exit 0");
}

TEST_F(DriverTest, APartialLineIsAProtocolError) {
  const Fate fate = FateOf("read l; printf '{\"id\":1'; exit 0");
  EXPECT_EQ(fate.verdict, "protocol-error");
  EXPECT_EQ(fate.detail, "ended in the middle of an answer (exit 0)");
}

TEST_F(DriverTest, AnswersBeforeADeathAreKept) {
  ASSERT_EQ(StartError("read l; echo one; echo two; exit 1"), "");
  for (std::uint64_t i = 1; i <= 3; ++i) session_->Send({i, "x", false});
  EXPECT_EQ(*session_->Next(), "one");
  EXPECT_EQ(*session_->Next(), "two");
  const auto third = session_->Next();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().signal, "exit 1");
  EXPECT_EQ(session_->unanswered(), 1u);
}

TEST_F(DriverTest, BurningProcessorTimeIsAHang) {
  spec_.limits.cpu_seconds_small = 0.3;
  const Fate fate = FateOf("read l; while :; do :; done");
  EXPECT_EQ(fate.verdict, "hang");
  EXPECT_EQ(fate.detail, "no answer after 0.3 CPU-seconds");
  EXPECT_FALSE(fate.by_wall_clock);
}

TEST_F(DriverTest, ProcessorTimeOfAChildCounts) {
  spec_.limits.cpu_seconds_small = 0.3;
  const Fate fate =
      FateOf("read l; (setsid sh -c 'while :; do :; done') & sleep 1000");
  EXPECT_EQ(fate.verdict, "hang");
}

TEST_F(DriverTest, SleepingIsAHangByTheWallClock) {
  spec_.limits.wall_seconds = 0.3;
  const Fate fate = FateOf("read l; sleep 1000");
  EXPECT_EQ(fate.verdict, "hang");
  EXPECT_TRUE(fate.by_wall_clock);
}

TEST_F(DriverTest, MemoryIsMeasuredOverTheWholeTree) {
  spec_.limits.memory_bytes = 64u << 20;
  const Fate fate = FateOf(
      "read l; (head -c 300000000 /dev/zero | tail -c 290000000 | "
      "sleep 1000) & wait");
  EXPECT_EQ(fate.verdict, "out-of-memory");
}

TEST_F(DriverTest, TooManyProcessesAreAProtocolError) {
  spec_.limits.processes = 8;
  const Fate fate = FateOf(
      "read l; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1000 & done; wait");
  EXPECT_EQ(fate.verdict, "protocol-error");
}

TEST_F(DriverTest, AFloodIsAProtocolErrorAndBounded) {
  const Fate fate = FateOf("read l; tr '\\0' x < /dev/zero");
  EXPECT_EQ(fate.verdict, "protocol-error");
  EXPECT_EQ(fate.detail, "an answer longer than 64 MiB");
}

TEST_F(DriverTest, AFloodOnStderrIsOnlyRead) {
  ASSERT_EQ(StartError("read l; head -c 5000000 /dev/zero | tr '\\0' e >&2; "
                       "echo fine"),
            "");
  session_->Send({1, "x", false});
  const auto line = session_->Next();
  ASSERT_TRUE(line) << line.error().detail;
  EXPECT_EQ(*line, "fine");
}

TEST_F(DriverTest, AClosedOutputIsAProtocolError) {
  const Fate fate = FateOf("read l; exec >&-; sleep 1000");
  EXPECT_EQ(fate.verdict, "protocol-error");
  EXPECT_EQ(fate.detail, "closed its output and runs on");
}

TEST_F(DriverTest, AClosedInputIsAProtocolError) {
  ASSERT_EQ(StartError("exec <&-; sleep 1000"), "");
  // More than a pipe holds: whenever it closes, some of it is left to write.
  session_->Send({1, std::string(1 << 20, 'x'), false});
  const auto answer = session_->Next();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().verdict, "protocol-error");
  EXPECT_EQ(answer.error().detail, "closed its input and runs on");
}

TEST_F(DriverTest, TheEnvironmentIsExactlyWhatIsDeclared) {
  setenv("WEIGHTPROOF_SECRET", "leaks", 1);
  spec_.env = {"PATH=/usr/bin:/bin", "DECLARED=yes"};
  ASSERT_EQ(StartError("read l; env | sort | tr '\\n' ' '; echo; pwd"), "");
  session_->Send({1, "x", false});
  session_->Send({2, "x", false});
  const auto environment = session_->Next();
  ASSERT_TRUE(environment);
  EXPECT_EQ(environment->find("WEIGHTPROOF_SECRET"), std::string::npos);
  EXPECT_NE(environment->find("DECLARED=yes"), std::string::npos);
  EXPECT_EQ(*session_->Next(), spec_.directory.string());
}

// The descendant closed everything, left its group and its session.
TEST_F(DriverTest, DescendantsDieWithTheDriver) {
  const std::string pid_file = directory_ / "pid";
  const Fate fate =
      FateOf("read l; setsid setsid sh -c 'echo $$ > " + pid_file +
             "; sleep 1000' <&- >&- 2>&- & while [ ! -s " + pid_file +
             " ]; do sleep 0.01; done; exit 5");
  EXPECT_EQ(fate.signal, "exit 5");
  pid_t pid = 0;
  std::ifstream(pid_file) >> pid;
  ASSERT_GT(pid, 0);
  EXPECT_NE(kill(pid, 0), 0) << "process " << pid << " lives";
}

// A child that keeps the pipe open does not hide the driver's death.
TEST_F(DriverTest, AnInheritedPipeDoesNotHideADeath) {
  const Fate fate = FateOf("read l; sleep 1000 & exit 4");
  EXPECT_EQ(fate.verdict, "crash");
  EXPECT_EQ(fate.signal, "exit 4");
}

TEST_F(DriverTest, FileSizesAreLimited) {
  spec_.limits.file_size_bytes = 4096;
  const Fate fate = FateOf("read l; exec head -c 100000 /dev/zero > big");
  EXPECT_EQ(fate.verdict, "crash");
}

TEST_F(DriverTest, ReadOnlyFilesStayReadOnlyEvenForRoot) {
  ASSERT_TRUE(CanEnforcePermissions());
  const auto file = directory_ / "read_only";
  std::ofstream(file) << "x";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  spec_.argv = {"/bin/sh", "-c",
                std::string(kHello) + "read l; if echo y 2>/dev/null >> " +
                    file.string() + "; then echo wrote; else echo no; fi"};
  auto session = DriverSession::Start(spec_, nullptr, true);
  ASSERT_TRUE(session) << session.error();
  (*session)->Send({1, "x", false});
  EXPECT_EQ(*(*session)->Next(), "no");
}

TEST_F(DriverTest, TheStopFlagEndsAWait) {
  std::atomic<bool> stop = false;
  spec_.argv = {"/bin/sh", "-c", std::string(kHello) + "sleep 1000"};
  auto session = DriverSession::Start(spec_, &stop);
  ASSERT_TRUE(session) << session.error();
  (*session)->Send({1, "x", false});
  std::thread thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  const auto line = (*session)->Next();
  thread.join();
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().verdict, "interrupted");
}

TEST_F(DriverTest, FinishReportsWhatWasNotInOrder) {
  ASSERT_EQ(StartError("while read l; do echo a; done; exit 7"), "");
  EXPECT_EQ(session_->Finish(), "ended with exit 7 when its input was closed");
  ASSERT_EQ(StartError("while read l; do echo a; echo b; done"), "");
  session_->Send({1, "x", false});
  EXPECT_EQ(*session_->Next(), "a");
  EXPECT_EQ(session_->Finish(), "wrote output that nobody asked for");
}

}  // namespace
}  // namespace weightproof::conformance
