#include "conformance/case_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace weightproof::conformance {
namespace {

constexpr std::size_t kWindow = 64;
constexpr std::size_t kHistory = 256;
// A file may declare any number of tensors; so many are read.
constexpr std::size_t kMaxTensors = 256;
// Larger ones (holes, mostly) are left alone.
constexpr std::uint64_t kMaxTensorBytes = 64u << 20;

// Whether two raw answers are equal but for their ids, without parsing. False
// says nothing.
bool SameButForId(const std::string& a, std::uint64_t id_a,
                  const std::string& b, std::uint64_t id_b) {
  const std::string digits_a = std::to_string(id_a);
  const std::size_t at = a.find(digits_a);
  if (a.size() != b.size() || at == a.npos) return false;
  const std::size_t rest = at + digits_a.size();
  return b.compare(at, digits_a.size(), std::to_string(id_b)) == 0 &&
         a.compare(0, at, b, 0, at) == 0 &&
         a.compare(rest, a.npos, b, rest, b.npos) == 0;
}

// The size in bytes that a dump states for a tensor; 0 if it does not.
std::uint64_t TensorSize(const Json& dump, std::size_t index) {
  const auto tensors = dump.find("tensors");
  if (tensors == dump.end() || !tensors->is_array() ||
      index >= tensors->size() || !(*tensors)[index].is_object()) {
    return 0;
  }
  const Json size = (*tensors)[index].value("size", Json());
  if (size.is_number_unsigned()) return size.get<std::uint64_t>();
  if (!size.is_string()) return 0;
  return std::strtoull(size.get_ref<const std::string&>().c_str(), nullptr, 10);
}

Reply FromFate(Fate fate) {
  Reply reply;
  reply.fate = std::move(fate);
  return reply;
}

bool IsHang(const Reply& reply) {
  return reply.fate && reply.fate->verdict == "hang";
}

}  // namespace

bool CaseRunner::IsSmall(std::size_t index) const {
  return files_.InputBytes((*cases_)[index].vector) < kSmallInput;
}

std::string CaseRunner::RequestLine(const Ask& ask, std::uint64_t id) const {
  const Case& one = (*cases_)[ask.index];
  if (ask.kind == Kind::kTensor) {
    return fmt::format(R"({{"id":{},"op":"gguf.tensor","index":{},{}}})", id,
                       ask.tensor, files_.TensorMembers(one.vector));
  }
  const std::string& members = files_.Members(one.vector);
  if (one.variant.empty()) return fmt::format(R"({{"id":{},{}}})", id, members);
  return fmt::format(R"({{"id":{},"variant":{},{}}})", id,
                     Json(one.variant).dump(), members);
}

std::expected<void, std::string> CaseRunner::Run(
    const std::vector<Case>& cases, std::vector<CaseRecord> known) {
  cases_ = &cases;
  states_.clear();
  states_.resize(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    states_[i].record = std::move(known[i]);
    states_[i].record.vector = set_.vectors[cases[i].vector].id;
    states_[i].record.variant = cases[i].variant;
  }
  const auto unanswered = [&](std::size_t i) {
    const Reply& reply = states_[i].record.reply;
    return reply.answer.is_null() && !reply.fate &&
           states_[i].record.not_asked.empty();
  };
  for (const bool strict : {false, true}) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (cases[i].obey_permissions == strict && unanswered(i)) QueueFirst(i);
    }
    if (auto drained = Drain(strict); !drained) return drained;
  }
  // In reverse, so that what a case leaves behind meets other cases.
  for (std::size_t i = cases.size(); i-- > 0;) {
    const CaseRecord& record = states_[i].record;
    if (cases[i].obey_permissions || unanswered(i) || record.reply.fate ||
        record.second || !record.not_asked.empty() || !IsSmall(i)) {
      continue;
    }
    states_[i].finished = false;
    states_[i].open = 1;
    pending_.push_back({i, Kind::kSecond, 0, 0});
  }
  return Drain(false);
}

void CaseRunner::QueueFirst(std::size_t index) {
  pending_.push_back({index, Kind::kMain, 0, 0});
  states_[index].open = 1;
  if (IsSmall(index)) {
    pending_.push_back({index, Kind::kAgain, 0, 0});
    ++states_[index].open;
  }
}

std::expected<void, std::string> CaseRunner::Open(bool obey_permissions) {
  auto session = DriverSession::Start(driver_, &stop_, obey_permissions);
  if (!session) return std::unexpected(session.error());
  session_ = std::move(*session);
  offers_tensors_ = session_->hello().Offers("gguf.tensor");
  history_.clear();
  return {};
}

void CaseRunner::Close() {
  if (!session_) return;
  if (const auto complaint = session_->Finish(); complaint && !stop_) {
    events_.on_note(*complaint);
  }
  peak_memory_ = std::max(peak_memory_, session_->peak_memory_bytes());
  session_.reset();
}

// Sends until the window is full. False if nothing is left to wait for.
bool CaseRunner::SendMore() {
  while (outstanding_.size() < kWindow && !pending_.empty()) {
    Ask ask = pending_.front();
    const bool large = !IsSmall(ask.index);
    // Large requests travel alone: what they take is not charged to others.
    const bool alone = large || (!outstanding_.empty() &&
                                 !IsSmall(outstanding_.front().index));
    if (alone && !outstanding_.empty()) break;
    pending_.pop_front();
    if (states_[ask.index].finished) continue;
    ask.id = next_id_++;
    session_->Send({ask.id, RequestLine(ask, ask.id), large});
    outstanding_.push_back(ask);
    history_.push_back(ask);
    if (history_.size() > kHistory) history_.pop_front();
  }
  return !outstanding_.empty();
}

std::expected<void, std::string> CaseRunner::Drain(bool obey_permissions) {
  while (!stop_ && (!pending_.empty() || !outstanding_.empty())) {
    if (!session_) {
      if (auto opened = Open(obey_permissions); !opened) {
        return stop_ ? std::expected<void, std::string>() : opened;
      }
    }
    if (!SendMore()) break;
    auto line = session_->Next();
    std::string why;
    std::optional<Reply> reply;
    if (line) reply = ReplyFrom(outstanding_.front(), std::move(*line), why);
    if (reply) {
      const Ask ask = outstanding_.front();
      outstanding_.pop_front();
      Deliver(ask, std::move(*reply));
      continue;
    }
    Fate fate = line ? session_->Refuse(why) : line.error();
    peak_memory_ = std::max(peak_memory_, session_->peak_memory_bytes());
    session_.reset();
    if (stop_ || fate.verdict == "interrupted") break;
    auto handled = HandleDeath(std::move(fate), obey_permissions);
    if (!handled) return stop_ ? std::expected<void, std::string>() : handled;
  }
  if (stop_) {
    session_.reset();
    pending_.clear();
    outstanding_.clear();
  }
  Close();
  return {};
}

std::optional<Reply> CaseRunner::ReplyFrom(const Ask& ask, std::string line,
                                           std::string& why) {
  const Reply& first = states_[ask.index].record.reply;
  const bool repeat = ask.kind == Kind::kAgain || ask.kind == Kind::kSecond;
  if (repeat && !first.raw.empty() &&
      SameButForId(first.raw, first.id, line, ask.id)) {
    return first;
  }
  auto answer = ParseAnswer(line, ask.id);
  if (!answer) {
    why = answer.error();
    return std::nullopt;
  }
  Reply reply;
  reply.answer = std::move(answer->body);
  reply.raw = std::move(line);
  reply.id = ask.id;
  return reply;
}

void CaseRunner::QueueTensors(const Ask& ask, const Json& answer) {
  const Case& one = (*cases_)[ask.index];
  const Vector& vector = set_.vectors[one.vector];
  if (!offers_tensors_ || vector.operation != "gguf.parse" ||
      answer.value("verdict", "") != "accept") {
    return;
  }
  const auto count_in = [](const Json& dump) -> std::size_t {
    const auto tensors = dump.find("tensors");
    return tensors != dump.end() && tensors->is_array() ? tensors->size() : 0;
  };
  const auto dump = answer.find("dump");
  std::size_t count = dump != answer.end() ? count_in(*dump) : 0;
  if (count == 0 && vector.dump.is_object()) count = count_in(vector.dump);
  count = std::min(count, kMaxTensors);
  State& state = states_[ask.index];
  state.record.tensors.resize(count);
  for (std::size_t i = count; i-- > 0;) {
    const std::uint64_t size =
        std::max(dump != answer.end() ? TensorSize(*dump, i) : 0,
                 TensorSize(vector.dump, i));
    if (size > kMaxTensorBytes) {
      state.record.tensors[i].answer = {{"status", "not-run"},
                                        {"why", "larger than 64 MiB"}};
      continue;
    }
    ++state.open;
    pending_.push_front({ask.index, Kind::kTensor, i, 0});
  }
}

void CaseRunner::Deliver(const Ask& ask, Reply reply) {
  State& state = states_[ask.index];
  if (state.finished) return;
  --state.open;
  CaseRecord& record = state.record;
  switch (ask.kind) {
    case Kind::kMain:
      record.reply = std::move(reply);
      // Whatever died once is not asked again.
      if (record.reply.fate) {
        state.open = 0;
      } else {
        QueueTensors(ask, record.reply.answer);
      }
      break;
    case Kind::kAgain:
      record.again = std::move(reply);
      break;
    case Kind::kTensor:
      record.tensors[ask.tensor] = std::move(reply);
      break;
    case Kind::kSecond:
      record.second = std::move(reply);
      state.finished = true;
      events_.on_second(ask.index, record);
      return;
  }
  if (state.open == 0) {
    state.finished = true;
    events_.on_first(ask.index, record);
  }
}

std::expected<Reply, std::string> CaseRunner::AskAlone(const Ask& ask,
                                                       bool obey_permissions) {
  auto session = DriverSession::Start(driver_, &stop_, obey_permissions);
  if (!session) return std::unexpected(session.error());
  Ask alone = ask;
  alone.id = next_id_++;
  (*session)->Send(
      {alone.id, RequestLine(alone, alone.id), !IsSmall(ask.index)});
  auto line = (*session)->Next();
  peak_memory_ = std::max(peak_memory_, (*session)->peak_memory_bytes());
  if (!line) return FromFate(line.error());
  std::string why;
  auto reply = ReplyFrom(alone, std::move(*line), why);
  return reply ? std::move(*reply) : FromFate((*session)->Refuse(why));
}

// The session died with asks left open. The first of them that dies alone owns
// the death; the ones behind it are asked again by the next session.
std::expected<void, std::string> CaseRunner::HandleDeath(
    Fate fate, bool obey_permissions) {
  std::vector<Ask> left(outstanding_.begin(), outstanding_.end());
  outstanding_.clear();
  std::erase_if(left,
                [&](const Ask& ask) { return states_[ask.index].finished; });
  std::vector<Reply> replies;
  for (std::size_t i = 0; i < left.size(); ++i) {
    auto reply = AskAlone(left[i], obey_permissions);
    // A machine that stops for seconds charges them to whoever was running: a
    // hang alone is believed if it was one before, or is one again.
    if (reply && IsHang(*reply) && fate.verdict != "hang" && !stop_) {
      reply = AskAlone(left[i], obey_permissions);
    }
    if (!reply) return std::unexpected(reply.error());
    if (stop_) return {};
    replies.push_back(std::move(*reply));
    if (!replies.back().fate) continue;
    pending_.insert(pending_.begin(), left.begin() + static_cast<long>(i) + 1,
                    left.end());
    for (std::size_t k = 0; k <= i; ++k) {
      Deliver(left[k], std::move(replies[k]));
    }
    return {};
  }
  if (fate.verdict == "hang") {
    // The machine was slow, or many answers were: alone, each one came.
    events_.on_note("was silent for too long once, but not when asked alone");
  } else if (!replies.empty()) {
    std::vector<std::string> requests;
    for (const Ask& ask : history_) {
      requests.push_back(RequestLine(ask, ask.id));
    }
    events_.on_sequence(requests);
    fate.detail = fmt::format(
        "{} {}{} after {} requests, but none of the {} left open does so "
        "alone",
        fate.verdict, fate.signal, fate.detail, history_.size(), left.size());
    fate.verdict = "nondeterministic";
    replies[0] = FromFate(std::move(fate));
  }
  for (std::size_t k = 0; k < left.size(); ++k) {
    Deliver(left[k], std::move(replies[k]));
  }
  return {};
}

}  // namespace weightproof::conformance
