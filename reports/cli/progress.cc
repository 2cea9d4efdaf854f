#include "reports/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "reports/terminal.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

constexpr std::chrono::milliseconds kRedraw(100);

void Write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

std::string ProgressLine(std::uint64_t done, std::uint64_t total,
                         const std::string& implementation,
                         const std::string& vector, std::size_t width) {
  constexpr std::uint64_t kBar = 24;
  const std::uint64_t filled =
      total == 0 ? kBar : std::min(done, total) * kBar / total;
  const std::string line = fmt::format(
      "[{}{}] {} of {}  {}  {}", std::string(filled, '#'),
      std::string(kBar - filled, '.'), done, total,
      reports::Printable(implementation), reports::Printable(vector));
  return reports::Shorten(line, width > 1 ? width - 1 : 1);
}

Progress::Progress() : live_(reports::CanRedraw(STDERR_FILENO)) {
  if (live_) width_ = reports::StyleFor(STDERR_FILENO).width;
}

Progress::~Progress() { Clear(); }

void Progress::Clear() {
  if (!drawn_) return;
  Write("\r\x1b[K");
  drawn_ = false;
}

void Progress::Say(const std::string& text) {
  Clear();
  Write("weightproof: " + reports::Printable(text) + "\n");
}

void Progress::OnStart(std::uint64_t implementations, std::uint64_t cases) {
  if (!live_) return;
  Say(fmt::format("{}, {}", reports::Count(implementations, "implementation"),
                  reports::Count(cases, "case")));
}

void Progress::OnCanary(bool caught, const std::string& detail) {
  if (!caught) Say("the planted bug was not caught: " + detail);
}

void Progress::OnImplementation(
    const conformance::Implementation& implementation) {
  if (implementation.status != conformance::ImplementationStatus::kUnusable) {
    return;
  }
  Say(implementation.name + " is unusable: " + implementation.why);
}

void Progress::OnCase(const std::string& implementation,
                      const std::string& vector, std::uint64_t done,
                      std::uint64_t total) {
  if (!live_) return;
  const auto now = std::chrono::steady_clock::now();
  if (done != total && now - last_ < kRedraw) return;
  last_ = now;
  Write("\r\x1b[K" + ProgressLine(done, total, implementation, vector, width_));
  drawn_ = true;
}

void Progress::OnNote(const std::string& text) { Say(text); }

}  // namespace weightproof::cli
