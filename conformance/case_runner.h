// Asks one driver a list of cases and collects what came back, through
// crashes, hangs and lies, to the end of the list.
#ifndef WEIGHTPROOF_CONFORMANCE_CASE_RUNNER_H_
#define WEIGHTPROOF_CONFORMANCE_CASE_RUNNER_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/case_record.h"
#include "conformance/driver.h"
#include "conformance/vector.h"
#include "conformance/vector_files.h"

namespace weightproof::conformance {

// One vector, by one code path.
struct Case {
  std::size_t vector = 0;  // index in the set
  std::string variant;
  // A rule about read permission: asked by a driver that cannot write to
  // read-only files even as root.
  bool obey_permissions = false;
};

// What a CaseRunner reports. Calls come from the thread that runs it.
struct CaseEvents {
  // All replies of a case but that of the second process.
  std::function<void(std::size_t index, const CaseRecord&)> on_first;
  // The same record, with the second process's reply.
  std::function<void(std::size_t index, const CaseRecord&)> on_second;
  // The requests of a session that died although none of those left open
  // dies alone.
  std::function<void(const std::vector<std::string>& requests)> on_sequence;
  std::function<void(const std::string&)> on_note;
};

class CaseRunner {
 public:
  // All arguments outlive the runner. stop ends the run between two answers.
  CaseRunner(const DriverSpec& driver, const VectorSet& set,
             const VectorFiles& files, const std::atomic<bool>& stop,
             CaseEvents events)
      : driver_(driver),
        set_(set),
        files_(files),
        stop_(stop),
        events_(std::move(events)) {}

  // Asks every case once, small ones twice, and tensors after an accepted
  // gguf.parse; then, in a second process and in reverse order, small cases
  // once more. known[i], if it has a reply, stands for an answer that a
  // journal already has. The error says that the driver can no longer be
  // started.
  std::expected<void, std::string> Run(const std::vector<Case>& cases,
                                       std::vector<CaseRecord> known);

  // Of all sessions so far, the one that is running included.
  std::uint64_t peak_memory_bytes() const {
    return session_ ? std::max(peak_memory_, session_->peak_memory_bytes())
                    : peak_memory_;
  }

 private:
  enum class Kind { kMain, kAgain, kTensor, kSecond };
  struct Ask {
    std::size_t index = 0;
    Kind kind = Kind::kMain;
    std::size_t tensor = 0;
    std::uint64_t id = 0;  // of the request, once it is sent
  };
  struct State {
    CaseRecord record;
    int open = 0;  // asks without a reply
    bool finished = false;
  };

  std::expected<void, std::string> Drain(bool obey_permissions);
  std::expected<void, std::string> Open(bool obey_permissions);
  void Close();
  bool SendMore();
  std::expected<void, std::string> HandleDeath(Fate fate,
                                               bool obey_permissions);
  std::expected<Reply, std::string> AskAlone(const Ask& ask,
                                             bool obey_permissions);
  std::string RequestLine(const Ask& ask, std::uint64_t id) const;
  bool IsSmall(std::size_t index) const;
  // Nothing if the line is not an answer; then why is set.
  std::optional<Reply> ReplyFrom(const Ask& ask, std::string line,
                                 std::string& why);
  void Deliver(const Ask& ask, Reply reply);
  void QueueTensors(const Ask& ask, const Json& answer);
  void QueueFirst(std::size_t index);
  void Finish(std::size_t index);

  const DriverSpec& driver_;
  const VectorSet& set_;
  const VectorFiles& files_;
  const std::atomic<bool>& stop_;
  CaseEvents events_;

  const std::vector<Case>* cases_ = nullptr;
  std::vector<State> states_;
  std::unique_ptr<DriverSession> session_;
  bool offers_tensors_ = false;
  std::deque<Ask> pending_;
  std::deque<Ask> outstanding_;
  std::deque<Ask> history_;  // of the session
  // Nine digits each, so that two answers to one request have one length.
  std::uint64_t next_id_ = 100000001;
  std::uint64_t peak_memory_ = 0;
};

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_CASE_RUNNER_H_
