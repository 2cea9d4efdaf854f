// A driver under test: a guarded process that answers requests.
#ifndef WEIGHTPROOF_CONFORMANCE_DRIVER_H_
#define WEIGHTPROOF_CONFORMANCE_DRIVER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/case_record.h"
#include "conformance/process.h"
#include "conformance/protocol.h"

namespace weightproof::conformance {

struct DriverLimits {
  // CPU time without an answer, for inputs under kSmallInput and above.
  double cpu_seconds_small = 2;
  double cpu_seconds_large = 10;
  double wall_seconds = 60;
  // Until hello is answered: interpreters load their libraries here.
  double start_cpu_seconds = 60;
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;
  std::optional<std::uint64_t> address_space_bytes;
  std::uint64_t file_size_bytes = std::uint64_t{1} << 30;
  // Larger vectors are not asked: where an implementation reads files whole
  // or walks them item by item, all of them would end in a limit.
  std::optional<std::uint64_t> input_bytes;
  int processes = 64;
};

// Inputs from here on get the larger limit.
inline constexpr std::uint64_t kSmallInput = 1 << 20;

struct DriverSpec {
  std::string name;
  std::vector<std::string> argv;
  std::vector<std::string> env;
  std::filesystem::path directory;  // scratch; created if missing
  DriverLimits limits;
};

struct Request {
  std::uint64_t id = 0;
  std::string line;  // JSON without a newline; must hold the same id
  bool large = false;
};

// One life of a driver. Requests are pipelined: Send any number, then take the
// answers in request order. After a Fate the session is over.
class DriverSession {
 public:
  // Starts the process and asks hello. A fate that came before hello is an
  // error here: the text says what happened. stop: see Next; may be null.
  static std::expected<std::unique_ptr<DriverSession>, std::string> Start(
      const DriverSpec& spec, const std::atomic<bool>* stop,
      bool obey_permissions = false);

  const Hello& hello() const { return hello_; }
  const Json& hello_json() const { return hello_json_; }

  void Send(Request request);
  std::size_t unanswered() const { return unanswered_.size(); }
  // The answer line to the oldest unanswered request, as received: not parsed,
  // not checked. Blocks, under the limits; a set stop flag ends it.
  std::expected<std::string, Fate> Next();
  // Ends the session because the last answer was not one: the request counts
  // as unanswered.
  Fate Refuse(std::string why);
  // Closes the driver's input and lets it end by itself. Returns what was not
  // in order (output nobody asked for, a crash on the way out), or nothing.
  std::optional<std::string> Finish();

  std::uint64_t peak_memory_bytes() const { return peak_memory_; }

 private:
  using Clock = std::chrono::steady_clock;

  DriverSession(const DriverSpec& spec, const std::atomic<bool>* stop)
      : spec_(spec), stop_(stop) {}

  std::optional<std::string> TakeLine();
  void Write();
  // Reads what is there; false at the end of the driver's output.
  bool ReadOutput();
  void ReadError();
  void Pump(int timeout_ms);
  std::optional<Fate> CheckLimits();
  std::optional<Fate> CheckDeath();
  Fate MakeFate(std::string verdict, std::string detail);
  Fate Ended(int wait_status);
  std::expected<std::string, Fate> Wait();

  DriverSpec spec_;
  const std::atomic<bool>* stop_;
  std::unique_ptr<Process> process_;
  Hello hello_;
  Json hello_json_;
  bool starting_ = true;
  std::deque<Request> unanswered_;
  std::string to_write_;
  std::size_t written_ = 0;
  std::string received_;
  std::size_t consumed_ = 0;  // of received_
  std::size_t searched_ = 0;  // of received_: no newline before this
  bool output_ended_ = false;
  bool input_broken_ = false;
  std::string stderr_;
  Clock::time_point last_progress_;
  Clock::time_point last_sample_;
  std::optional<Clock::time_point> ended_since_;
  // CPU time of the tree at the first sample after the last answer.
  std::optional<double> cpu_at_progress_;
  std::uint64_t peak_memory_ = 0;
};

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_DRIVER_H_
