#include "conformance/driver.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "conformance/dump_value.h"

namespace weightproof::conformance {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kStderrTail = 4096;
// Written at once when so much is waiting, so that the driver works while the
// runner judges.
constexpr std::size_t kEagerWrite = 16u << 10;
constexpr milliseconds kSamplePeriod{20};
// How long a driver may be silent after it closed one of its ends.
constexpr milliseconds kLastWords{5000};
constexpr milliseconds kGoodbye{5000};

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Printable whatever it was.
std::string Clean(std::string_view text) {
  std::string clean;
  for (const char c : text) {
    const bool control =
        static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t';
    clean.push_back(control ? '?' : c);
  }
  while (!clean.empty() && !IsValidUtf8(clean)) {
    for (char& c : clean) {
      if (static_cast<unsigned char>(c) >= 128) c = '?';
    }
  }
  return clean;
}

}  // namespace

std::expected<std::unique_ptr<DriverSession>, std::string> DriverSession::Start(
    const DriverSpec& spec, const std::atomic<bool>* stop,
    bool obey_permissions) {
  std::error_code error;
  std::filesystem::create_directories(spec.directory, error);
  if (error) {
    return std::unexpected(
        fmt::format("{}: {}", spec.directory.string(), error.message()));
  }
  ProcessSpec process;
  process.argv = spec.argv;
  process.env = spec.env;
  process.directory = spec.directory;
  process.file_size_limit = spec.limits.file_size_bytes;
  process.address_space_limit = spec.limits.address_space_bytes;
  process.obey_permissions = obey_permissions;
  auto started = Process::Start(process);
  if (!started) return std::unexpected(started.error());
  std::unique_ptr<DriverSession> session(new DriverSession(spec, stop));
  session->process_ = std::move(*started);
  session->Send({0, HelloRequest(), true});
  auto line = session->Next();
  std::string problem;
  if (!line) {
    const Fate& fate = line.error();
    problem = fmt::format("{} before hello was answered: {}{}", fate.verdict,
                          fate.signal, fate.detail);
    if (!fate.stderr_tail.empty()) {
      problem += "\n" + fate.stderr_tail;
    }
    return std::unexpected(problem);
  }
  auto json = ParseUntrusted(*line);
  if (!json) return std::unexpected("the answer to hello: " + json.error());
  auto hello = ParseHello(*json);
  if (!hello) return std::unexpected("the answer to hello: " + hello.error());
  session->hello_ = std::move(*hello);
  session->hello_json_ = std::move(*json);
  session->hello_json_.erase("id");
  session->starting_ = false;
  return session;
}

void DriverSession::Send(Request request) {
  if (unanswered_.empty()) {
    last_progress_ = Clock::now();
    cpu_at_progress_.reset();
  }
  to_write_ += request.line;
  to_write_ += '\n';
  request.line.clear();
  unanswered_.push_back(std::move(request));
  if (to_write_.size() - written_ >= kEagerWrite) Write();
}

void DriverSession::Write() {
  while (written_ < to_write_.size() && process_->input() >= 0) {
    const ssize_t count = write(process_->input(), to_write_.data() + written_,
                                to_write_.size() - written_);
    if (count > 0) {
      written_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      process_->CloseInput();
      input_broken_ = true;
    }
  }
  to_write_.clear();
  written_ = 0;
}

bool DriverSession::ReadOutput() {
  if (consumed_ > 0) {
    received_.erase(0, consumed_);
    searched_ -= consumed_;
    consumed_ = 0;
  }
  thread_local std::string chunk(256u << 10, '\0');
  const ssize_t count = read(process_->output(), chunk.data(), chunk.size());
  if (count > 0) received_.append(chunk, 0, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

void DriverSession::ReadError() {
  char chunk[4096];
  const ssize_t count = read(process_->error(), chunk, sizeof chunk);
  if (count > 0) {
    stderr_.append(chunk, static_cast<std::size_t>(count));
    if (stderr_.size() > 2 * kStderrTail) {
      stderr_.erase(0, stderr_.size() - kStderrTail);
    }
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    process_->CloseError();
  }
}

std::optional<std::string> DriverSession::TakeLine() {
  const std::size_t end = received_.find('\n', searched_);
  if (end == received_.npos) {
    searched_ = received_.size();
    return std::nullopt;
  }
  std::string line = received_.substr(consumed_, end - consumed_);
  consumed_ = searched_ = end + 1;
  return line;
}

// One round of input and output; waits at most that long for any of it.
void DriverSession::Pump(int timeout_ms) {
  Write();
  pollfd fds[4];
  nfds_t count = 0;
  const auto add = [&](int fd, short events) -> pollfd* {
    if (fd < 0) return nullptr;
    fds[count] = {fd, events, 0};
    return &fds[count++];
  };
  const pollfd* out = add(output_ended_ ? -1 : process_->output(), POLLIN);
  const pollfd* err = add(process_->error(), POLLIN);
  if (!to_write_.empty()) add(process_->input(), POLLOUT);
  add(ended_since_ ? -1 : process_->status_fd(), POLLIN);
  if (poll(fds, count, timeout_ms) <= 0) return;
  if (out != nullptr && out->revents != 0 && !ReadOutput()) {
    output_ended_ = true;
  }
  if (err != nullptr && err->revents != 0) ReadError();
}

Fate DriverSession::MakeFate(std::string verdict, std::string detail) {
  // What the driver wrote last often explains it.
  for (int i = 0; i < 16 && process_->error() >= 0; ++i) ReadError();
  Fate fate;
  fate.verdict = std::move(verdict);
  fate.detail = std::move(detail);
  fate.stderr_tail = Clean(stderr_.size() > kStderrTail
                               ? stderr_.substr(stderr_.size() - kStderrTail)
                               : stderr_);
  process_->Kill();
  return fate;
}

Fate DriverSession::Ended(int wait_status) {
  const bool partial = received_.size() > consumed_;
  if (partial && !WIFSIGNALED(wait_status)) {
    return MakeFate("protocol-error",
                    fmt::format("ended in the middle of an answer ({})",
                                DescribeWaitStatus(wait_status)));
  }
  Fate fate = MakeFate("crash", "");
  fate.signal = DescribeWaitStatus(wait_status);
  return fate;
}

std::optional<Fate> DriverSession::CheckDeath() {
  const auto status = process_->WaitStatus();
  const auto now = Clock::now();
  if (!status && !output_ended_ && !input_broken_) return std::nullopt;
  if (!ended_since_) ended_since_ = now;
  if (status) {
    // A child may hold the pipe open; what the driver wrote is there by now.
    while (!output_ended_ && now - *ended_since_ < kLastWords) {
      const std::size_t before = received_.size() - consumed_;
      if (!ReadOutput()) output_ended_ = true;
      if (received_.size() - consumed_ == before) break;
    }
    if (received_.find('\n', searched_) != received_.npos) return std::nullopt;
    return Ended(*status);
  }
  if (now - *ended_since_ < kLastWords) return std::nullopt;
  return MakeFate("protocol-error", output_ended_
                                        ? "closed its output and runs on"
                                        : "closed its input and runs on");
}

std::optional<Fate> DriverSession::CheckLimits() {
  const auto now = Clock::now();
  if (received_.size() - consumed_ > kMaxAnswerBytes) {
    return MakeFate("protocol-error", "an answer longer than 64 MiB");
  }
  if (now - last_sample_ < kSamplePeriod) return std::nullopt;
  last_sample_ = now;
  const Usage usage = process_->Sample();
  peak_memory_ = std::max(peak_memory_, usage.memory_bytes);
  if (!cpu_at_progress_) cpu_at_progress_ = usage.cpu_seconds;
  const DriverLimits& limits = spec_.limits;
  if (usage.memory_bytes > limits.memory_bytes) {
    return MakeFate(
        "out-of-memory",
        fmt::format("{} MiB resident, over the limit of {} MiB",
                    usage.memory_bytes >> 20, limits.memory_bytes >> 20));
  }
  if (usage.processes > limits.processes) {
    return MakeFate("protocol-error",
                    fmt::format("{} processes, over the limit of {}",
                                usage.processes, limits.processes));
  }
  const double cpu = usage.cpu_seconds - *cpu_at_progress_;
  const double cpu_limit = starting_ ? limits.start_cpu_seconds
                           : unanswered_.front().large
                               ? limits.cpu_seconds_large
                               : limits.cpu_seconds_small;
  if (cpu > cpu_limit) {
    return MakeFate("hang",
                    fmt::format("no answer after {} CPU-seconds", cpu_limit));
  }
  if (Seconds(now - last_progress_) > limits.wall_seconds) {
    Fate fate = MakeFate(
        "hang", fmt::format("no answer after {} s", limits.wall_seconds));
    fate.by_wall_clock = true;
    return fate;
  }
  return std::nullopt;
}

std::expected<std::string, Fate> DriverSession::Wait() {
  for (;;) {
    if (auto line = TakeLine()) return std::move(*line);
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) {
      return std::unexpected(MakeFate("interrupted", ""));
    }
    if (auto fate = CheckDeath()) return std::unexpected(std::move(*fate));
    if (auto fate = CheckLimits()) return std::unexpected(std::move(*fate));
    Pump(static_cast<int>(kSamplePeriod.count()));
  }
}

std::expected<std::string, Fate> DriverSession::Next() {
  auto line = Wait();
  if (!line) return line;
  unanswered_.pop_front();
  last_progress_ = Clock::now();
  cpu_at_progress_.reset();
  return line;
}

Fate DriverSession::Refuse(std::string why) {
  return MakeFate("protocol-error", std::move(why));
}

std::optional<std::string> DriverSession::Finish() {
  const auto deadline = Clock::now() + kGoodbye;
  process_->CloseInput();
  while (!process_->WaitStatus() && Clock::now() < deadline) {
    Pump(static_cast<int>(kSamplePeriod.count()));
    if (received_.size() - consumed_ > kMaxAnswerBytes) break;
  }
  if (process_->output() >= 0 && !output_ended_) ReadOutput();
  const auto status = process_->WaitStatus();
  const bool extra = received_.size() > consumed_;
  process_->Kill();
  if (extra) return "wrote output that nobody asked for";
  if (!status) return "did not end when its input was closed";
  if (*status != 0) {
    return fmt::format("ended with {} when its input was closed",
                       DescribeWaitStatus(*status));
  }
  return std::nullopt;
}

}  // namespace weightproof::conformance
