// The journal of a run: JSON Lines, one per case, flushed as they come. It
// resumes a run that was killed, and it is a recording that can be judged
// anywhere. PROTOCOL.md describes the lines.
#ifndef WEIGHTPROOF_CONFORMANCE_JOURNAL_H_
#define WEIGHTPROOF_CONFORMANCE_JOURNAL_H_

#include <atomic>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "conformance/case_record.h"

namespace weightproof::conformance {

// (vector id, variant) -> record.
using Records = std::map<std::pair<std::string, std::string>, CaseRecord>;

// What a journal says of one implementation.
struct Recording {
  Json hello;  // its answer to hello, without id; null if it is not there
  Records records;
};

struct JournalContents {
  Json header;  // of the run; null in a recording made elsewhere
  std::map<std::string, Recording> implementations;
  bool torn = false;              // the last line was cut and dropped
  std::uint64_t whole_bytes = 0;  // up to the end of the last whole line
};

// Reads a journal or a recording. A line without "implementation" belongs to
// the one named last, or to the name in hello. Only a cut last line is
// forgiven; the error names file and line.
std::expected<JournalContents, std::string> ReadJournal(
    const std::filesystem::path& path);

// Appends lines; safe to use from several threads.
class JournalWriter {
 public:
  // Starts a new journal, or goes on after keep_bytes of an old one.
  static std::expected<std::unique_ptr<JournalWriter>, std::string> Open(
      const std::filesystem::path& path, std::uint64_t keep_bytes);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // The line reaches the kernel before this returns.
  void Append(std::string_view line);
  // Whether every line so far was written.
  bool Good() const { return good_; }

 private:
  explicit JournalWriter(int fd) : fd_(fd) {}

  std::mutex mutex_;
  int fd_;
  std::atomic<bool> good_ = true;
};

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_JOURNAL_H_
