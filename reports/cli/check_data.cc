#include "reports/cli/check_data.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <variant>

#include "impls/cpu/gguf_values.h"
#include "reference/gguf/data_values.h"
#include "reports/terminal.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Up to this size the reference reads the data as well.
constexpr std::uint64_t kReadTwice = 1u << 20;

constexpr std::size_t kAround = std::size_t{4} << 20;

// Calls advise for the whole pages that the bytes lie in; inner: only those
// they fill.
void Advise(Bytes bytes, bool inner, int advice) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  std::uintptr_t end = begin + bytes.size();
  begin = (inner ? begin + page - 1 : begin) / page * page;
  end = (inner ? end : end + page - 1) / page * page;
  if (begin < end) {
    madvise(reinterpret_cast<void*>(begin), end - begin, advice);
  }
}

std::optional<impls::GgufView> Accepted(Bytes bytes) {
  for (const auto profile :
       {impls::GgufProfile::kSpec, impls::GgufProfile::kGgml}) {
    impls::GgufInput input;
    input.prefix = bytes;
    input.file_size = bytes.size();
    input.profile = profile;
    impls::GgufResult result = impls::ParseGguf(input);
    if (auto* view = std::get_if<impls::GgufView>(&result)) {
      return std::move(*view);
    }
  }
  return std::nullopt;
}

std::optional<gguf::File> AcceptedByReference(Bytes bytes) {
  for (const gguf::Profile* profile :
       {&gguf::SpecProfile(), &gguf::GgmlProfile()}) {
    gguf::Input input;
    input.prefix = bytes;
    input.file_size = bytes.size();
    auto file = gguf::Parse(input, *profile);
    if (file) return std::move(*file);
  }
  return std::nullopt;
}

std::optional<DataCheck> ReadTrusted(Bytes bytes) {
  const auto file = AcceptedByReference(bytes);
  if (!file) return std::nullopt;
  DataCheck check;
  check.tensors = file->tensors.size();
  for (const gguf::Tensor& tensor : file->tensors) check.bytes += tensor.size;
  for (const gguf::ValueFinding& found : gguf::CheckValues(*file)) {
    const auto name = file->Bytes(file->tensors[found.tensor].name);
    check.findings.push_back({found.rule, found.tensor,
                              std::string(name.begin(), name.end()),
                              found.block, found.offset, found.count});
  }
  return check;
}

std::optional<DataCheck> ReadFast(Bytes bytes, const DataProgress& progress) {
  const auto view = Accepted(bytes);
  if (!view) return std::nullopt;
  DataCheck check;
  check.tensors = view->tensors.size();
  for (const impls::GgufTensor& tensor : view->tensors) {
    check.bytes += tensor.size;
  }
  std::atomic<std::uint64_t> done = 0;
  impls::GgufDataOptions options;
#ifdef MADV_POPULATE_READ
  options.before = [](Bytes window) {
    Advise(window, false, MADV_POPULATE_READ);
  };
#endif
  options.after = [&](Bytes window) {
    // A kernel maps more around a fault than was asked for, also of windows
    // that were given back.
    const auto at = static_cast<std::size_t>(window.data() - bytes.data());
    const std::size_t around = std::min(at, kAround);
    const std::size_t size = around + window.size() + kAround;
    Advise(
        bytes.subspan(at - around, std::min(size, bytes.size() - at + around)),
        true, MADV_DONTNEED);
    const std::uint64_t now = done += window.size();
    if (progress) progress(now, check.bytes);
  };
  for (const impls::GgufDataFinding& found :
       impls::CheckGgufValues(*view, options)) {
    check.findings.push_back({found.rule, found.tensor,
                              std::string(view->tensors[found.tensor].name),
                              found.block, found.offset, found.count});
  }
  return check;
}

}  // namespace

std::optional<DataCheck> CheckData(Bytes bytes, bool trusted,
                                   const DataProgress& progress) {
  if (trusted) return ReadTrusted(bytes);
  auto check = ReadFast(bytes, progress);
  if (!check || bytes.size() > kReadTwice) return check;
  const auto second = ReadTrusted(bytes);
  if (!second || second->findings != check->findings) {
    check->disagreement =
        fmt::format("data: the optimized reader has {}, the reference {}",
                    reports::Count(check->findings.size(), "finding"),
                    second ? reports::Count(second->findings.size(), "finding")
                           : "no tensors");
  }
  return check;
}

Json ToJson(const DataCheck& check) {
  Json findings = Json::array();
  for (const DataFinding& found : check.findings) {
    findings.push_back({{"rule", Rules()[found.rule].id},
                        {"severity", ToString(Rules()[found.rule].severity)},
                        {"tensor", found.tensor},
                        {"name", reports::ValidUtf8(found.name)},
                        {"block", found.block},
                        {"offset", found.offset},
                        {"count", found.count}});
  }
  return {{"tensors", check.tensors},
          {"bytes", check.bytes},
          {"findings", findings}};
}

std::string DataProgressLine(std::uint64_t done, std::uint64_t total,
                             const std::string& name, std::size_t width) {
  constexpr std::uint64_t kBar = 24;
  const double part = total == 0 ? 1
                                 : static_cast<double>(std::min(done, total)) /
                                       static_cast<double>(total);
  const auto filled = static_cast<std::uint64_t>(part * kBar);
  const std::string line =
      fmt::format("[{}{}] {:3} %  {}", std::string(filled, '#'),
                  std::string(kBar - filled, '.'), static_cast<int>(part * 100),
                  reports::Printable(name));
  return reports::Shorten(line, width > 1 ? width - 1 : 1);
}

struct DataProgressBar::State {
  std::string name;
  bool live = reports::CanRedraw(STDERR_FILENO);
  std::size_t width = reports::StyleFor(STDERR_FILENO).width;
  std::mutex mutex;
  bool drawn = false;
  std::chrono::steady_clock::time_point last;
};

DataProgressBar::DataProgressBar(std::string name)
    : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
}

DataProgressBar::~DataProgressBar() {
  if (state_->drawn) std::fputs("\r\x1b[K", stderr);
}

DataProgress DataProgressBar::Callback() {
  if (!state_->live) return {};
  return [state = state_.get()](std::uint64_t done, std::uint64_t total) {
    const std::unique_lock lock(state->mutex, std::try_to_lock);
    const auto now = std::chrono::steady_clock::now();
    if (!lock || now - state->last < std::chrono::milliseconds(100)) return;
    state->last = now;
    state->drawn = true;
    const std::string line =
        DataProgressLine(done, total, state->name, state->width);
    std::fputs(("\r\x1b[K" + line).c_str(), stderr);
    std::fflush(stderr);
  };
}

}  // namespace weightproof::cli
