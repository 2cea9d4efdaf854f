// A driver that misbehaves on purpose: hostile_driver MODE. It rejects every
// file, which is right for the vectors of its test, and does something else on
// the one whose path holds "trigger".
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view kHello =
    R"({"id":0,"protocol":1,"name":"hostile","version":"1","language":"C++",)"
    R"("operations":["gguf.parse"],"verdicts":["accept","reject"]})";

std::string IdOf(const std::string& request) {
  const std::size_t at = request.find("\"id\":");
  return request.substr(at + 5, request.find_first_of(",}", at) - at - 5);
}

void Say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Reject(const std::string& id) {
  Say("{\"id\":" + id + ",\"status\":\"ok\",\"verdict\":\"reject\"}\n");
}

[[noreturn]] void SleepForever() {
  for (;;) pause();
}

[[noreturn]] void Burn() {
  for (std::atomic<unsigned> i = 0;; ++i) {
  }
}

[[noreturn]] void EatMemory() {
  for (;;) {
    auto* block = static_cast<char*>(std::malloc(8 << 20));
    if (block == nullptr) std::abort();
    std::memset(block, 1, 8 << 20);
  }
}

// Leaves a process behind that left its group and holds no pipe.
void ForkAway() {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  for (int fd = 0; fd < 3; ++fd) close(fd);
  SleepForever();
}

// What a mode does on the trigger. False if it answers after all.
bool Misbehave(const std::string& mode, const std::string& id) {
  if (mode == "garbage") Say("this is not JSON\n");
  if (mode == "partial") {
    Say("{\"id\":" + id);
    std::exit(0);
  }
  if (mode == "invalid-utf8") Say("{\"id\":" + id + ",\"status\":\"\xff\"}\n");
  if (mode == "deep") Say(std::string(100000, '[') + "\n");
  if (mode == "wrong-id") Reject("7");
  if (mode == "unknown-verdict") {
    Say("{\"id\":" + id + ",\"status\":\"ok\",\"verdict\":\"maybe\"}\n");
  }
  if (mode == "error-answer") {
    Say("{\"id\":" + id + ",\"status\":\"error\",\"detail\":\"no\"}\n");
  }
  if (mode == "lies") {
    Say("{\"id\":" + id + ",\"status\":\"not-implemented\"}\n");
  }
  if (mode == "flood") {
    for (const std::string chunk(1 << 16, 'x');;) Say(chunk);
  }
  if (mode == "exit") std::exit(3);
  if (mode == "exit-zero") std::exit(0);
  if (mode == "segv") raise(SIGSEGV);
  if (mode == "abort") {
    std::fputs("assertion failed: it was not so\n", stderr);
    std::abort();
  }
  if (mode == "hang-cpu") Burn();
  if (mode == "hang-sleep") SleepForever();
  if (mode == "memory") EatMemory();
  if (mode == "close-output") {
    close(1);
    SleepForever();
  }
  if (mode == "fork-and-exit") {
    ForkAway();
    std::exit(5);
  }
  if (mode == "fork-bomb") {
    for (int i = 0; i < 200; ++i) {
      if (fork() == 0) SleepForever();
    }
    SleepForever();
  }
  if (mode == "fork-and-answer") ForkAway();
  return mode != "fork-and-answer" && mode != "flips" && mode != "tired";
}

// Answers that depend on what was asked before.
bool AnswersInState(const std::string& mode, const std::string& id) {
  static int asked = 0;
  ++asked;
  if (mode == "flips" && asked % 2 == 0) {
    Say("{\"id\":" + id + ",\"status\":\"ok\",\"verdict\":\"accept\"}\n");
    return true;
  }
  if (mode == "tired" && asked == 2) raise(SIGSEGV);
  if (mode == "stalls-once") {
    // The processes count together, by a file in their folder.
    std::ofstream("asked", std::ios::app) << 'x';
    if (std::filesystem::file_size("asked") == 2) Burn();
    raise(SIGSEGV);
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  std::string line;
  std::getline(std::cin, line);
  if (mode == "silent") SleepForever();
  if (mode == "bad-hello") Say("{\"id\":0,\"protocol\":99}\n");
  Say(std::string(kHello) + "\n");
  std::vector<std::string> held;
  while (std::getline(std::cin, line)) {
    const std::string id = IdOf(line);
    if (line.find("trigger") != line.npos) {
      if (AnswersInState(mode, id)) continue;
      if (mode == "out-of-order") {
        held.push_back(id);
        if (held.size() < 2) continue;
        Reject(held[1]);
        Reject(held[0]);
        held.clear();
        continue;
      }
      if (mode != "" && Misbehave(mode, id)) continue;
    }
    Reject(id);
  }
}
