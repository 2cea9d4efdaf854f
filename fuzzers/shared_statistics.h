// Counters of one job in a file that is mapped by the job and read by whoever
// watches it: they survive whatever ends the job.
#ifndef WEIGHTPROOF_FUZZERS_SHARED_STATISTICS_H_
#define WEIGHTPROOF_FUZZERS_SHARED_STATISTICS_H_

#include <expected>
#include <filesystem>
#include <memory>
#include <string>

#include "fuzzers/engine.h"

namespace weightproof::fuzzers {

class SharedStatistics {
 public:
  // Maps the file, made and zeroed if it is missing or of another size. The
  // error names the path and the cause.
  static std::expected<SharedStatistics, std::string> Open(
      const std::filesystem::path& path);
  SharedStatistics(SharedStatistics&&) noexcept;
  SharedStatistics& operator=(SharedStatistics&&) noexcept;
  ~SharedStatistics();

  // Cheap; one writer at a time.
  void Count(const Execution& execution);
  // The input about to run, if it is not larger than kLargestCurrent.
  void SetCurrent(ByteSpan input);
  void ClearCurrent();

  Statistics Read() const;
  // The input that was running when the job ended; nothing if none was.
  std::optional<Bytes> Current() const;

  static constexpr std::size_t kLargestCurrent = 1 << 16;

 private:
  struct Block;
  explicit SharedStatistics(Block* block);
  Block* block_;
};

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_SHARED_STATISTICS_H_
