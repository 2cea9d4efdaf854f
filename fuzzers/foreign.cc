#include "fuzzers/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <optional>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "fuzzers/corpus_folder.h"
#include "fuzzers/finding_store.h"
#include "fuzzers/foreign_judge.h"
#include "reference/rule.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;
using conformance::Outcome;
using conformance::Row;
using Clock = std::chrono::steady_clock;
using Result = std::expected<void, std::string>;

std::uint64_t HashText(std::string_view text) {
  return HashBytes(
      {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

class Foreign {
 public:
  Foreign(const ForeignOptions& options, const Target& target,
          const std::atomic<bool>& stop,
          const std::function<void(const std::string&)>& line)
      : options_(options),
        target_(target),
        stop_(stop),
        line_(line),
        judge_(options.implementation, target, options.state / "scratch", stop),
        random_(options.seed) {}

  std::expected<ForeignResult, std::string> Run() {
    if (auto opened = Prepare(); !opened) {
      return std::unexpected(opened.error());
    }
    auto next_line = begin_ + Interval();
    Result result;
    while (result && !stop_ && Seconds() < Budget()) {
      result = Batch();
      if (Clock::now() < next_line) continue;
      next_line = Clock::now() + Interval();
      PrintLine();
    }
    Totals add;
    add.runs = 1;
    add.seconds = Seconds();
    add.statistics = result_.statistics;
    auto totals = FoldJobs(options_.state, add);
    std::error_code ignored;
    fs::remove_all(options_.state / "scratch", ignored);
    if (!result) return std::unexpected(result.error());
    if (!totals) return std::unexpected(totals.error());
    result_.totals = *totals;
    for (const StoredFinding& known : known_->List()) {
      result_.known_met.insert(known.finding.rule);
    }
    result_.findings = store_->size();
    result_.new_findings = store_->size() - before_;
    result_.interrupted = stop_;
    return result_;
  }

 private:
  Result Prepare() {
    if (auto opened = judge_.Open(); !opened) return opened;
    begin_ = Clock::now();
    judge_.SetDeadline(begin_ + std::chrono::seconds(options_.seconds));
    if (!judge_.hello().Offers("gguf.parse")) {
      return std::unexpected("the driver does not offer gguf.parse");
    }
    auto store = FindingStore::Open(options_.state / "findings");
    if (!store) return std::unexpected(store.error());
    auto known = FindingStore::Open(options_.state / "known");
    if (!known) return std::unexpected(known.error());
    store_ = std::move(*store);
    known_ = std::move(*known);
    before_ = store_->size();
    for (const auto& deviation : options_.implementation.deviations) {
      if (AppliesTo(deviation, judge_.name(), judge_.hello().version) &&
          (deviation.operation.empty() ||
           deviation.operation == "gguf.parse")) {
        const std::string rule = RuleOf(deviation);
        // Rules that a harness judges are not seen in single files.
        const auto index = FindRule(rule);
        if (index && Rules()[*index].format == "gguf" &&
            Rules()[*index].judged_by == "parse") {
          result_.known_all.insert(rule);
        }
      }
    }
    const fs::path corpus = options_.state / "corpus";
    std::error_code error;
    const fs::path pending = options_.state / "pending";
    for (const auto& entry : fs::directory_iterator(pending, error)) {
      if (auto input = LoadInput(entry.path())) pool_.push_back(*input);
    }
    fs::remove_all(pending, error);
    again_ = pool_.size();
    if (!fs::exists(corpus, error) || fs::is_empty(corpus, error)) return {};
    auto inputs = LoadCorpus(corpus);
    if (!inputs) return std::unexpected(inputs.error());
    for (CorpusInput& input : *inputs) pool_.push_back(std::move(input.bytes));
    // What they show is seen again before anything is called new.
    again_ = pool_.size();
    return {};
  }

  double Budget() const { return static_cast<double>(options_.seconds); }
  double Seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  Clock::duration Interval() const {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(options_.interval_seconds));
  }

  Bytes NextInput() {
    if (again_ > 0) return pool_[--again_];
    if (pool_.empty() || random_.OneIn(8)) return target_.generate(random_);
    const std::size_t a =
        std::max(random_.Below(pool_.size()), random_.Below(pool_.size()));
    if (random_.OneIn(8)) {
      return target_.cross(pool_[a], pool_[random_.Below(pool_.size())],
                           random_, target_.max_size);
    }
    return target_.mutate(pool_[a], random_, target_.max_size);
  }

  Result Batch() {
    const bool replaying = again_ > 0;
    // The first one is small: something shows soon, whatever the driver.
    const std::size_t size = batches_++ == 0
                                 ? std::min<std::size_t>(32, options_.batch)
                                 : options_.batch;
    std::vector<Bytes> inputs;
    while (inputs.size() < size) inputs.push_back(NextInput());
    Result stored;
    std::vector<std::pair<Bytes, Judged>> failed;
    auto asked = judge_.Ask(inputs, [&](std::size_t i, const Judged& judged) {
      Take(inputs[i], judged, replaying, stored);
      if (judged.row.outcome == Outcome::kFail) {
        failed.emplace_back(inputs[i], judged);
      }
    });
    if (!asked) return stop_ ? Result() : asked;
    if (!stored) return stored;
    for (const auto& [input, judged] : failed) {
      if (stop_) break;
      if (auto kept = Keep(input, judged.row); !kept) return kept;
    }
    return {};
  }

  void Take(const Bytes& input, const Judged& judged, bool replaying,
            Result& stored) {
    const Row& row = judged.row;
    Execution execution;
    execution.accepted = judged.stage.empty();
    execution.stage = judged.stage;
    if (row.outcome == Outcome::kExpectedDeviation) {
      execution.known_rule = row.rule;
      KeepKnown(input, row, stored);
    }
    result_.statistics.Count(execution);
    if (!IsNew(judged) || replaying) return;
    pool_.push_back(input);
    auto kept =
        StoreFile(options_.state / "corpus" / CorpusName(input), input, false);
    if (!kept && stored) stored = kept;
  }

  // Novelty of what can be seen from outside.
  bool IsNew(const Judged& judged) {
    const Row& row = judged.row;
    const auto milliseconds = static_cast<std::uint64_t>(judged.seconds * 1000);
    const std::string text =
        fmt::format("{}|{}|{}|{}", row.verdict, row.signal, judged.spec_rule,
                    row.difference.empty() ? "" : PathClass(row.difference));
    const std::string cost =
        fmt::format("time {} memory {} {}", std::bit_width(milliseconds >> 4),
                    std::bit_width(judged.peak_bytes >> 26), row.verdict);
    const std::string rule = fmt::format("{} {} {}", row.rule, row.verdict,
                                         static_cast<int>(row.outcome));
    // What the driver itself says of a refusal tells its paths apart.
    std::string detail;
    if (row.answer.is_object() && row.answer.contains("detail")) {
      detail = PathClass(row.answer["detail"].dump(
                             -1, ' ', true, Json::error_handler_t::replace))
                   .substr(0, 60);
    }
    bool fresh = seen_.insert(HashText(text)).second;
    fresh |= seen_.insert(HashText(cost)).second;
    fresh |= seen_.insert(HashText(rule)).second;
    fresh |= details_ < 400 && seen_.insert(HashText(detail)).second &&
             ++details_ > 0;
    return fresh;
  }

  void KeepKnown(const Bytes& input, const Row& row, Result& stored) {
    Finding finding = ToFinding(row);
    if (known_->Has(finding)) return;
    auto kept = known_->Add(finding, input, target_.extension, Origin());
    if (!kept && stored) stored = kept;
  }

  // A finding nobody knows: minimised, then written. Minimising may lead to a
  // known deviation; then the input shows nothing new.
  Result Keep(const Bytes& input, const Row& row) {
    const Finding finding = ToFinding(row);
    const std::string bucket = BucketOf(finding);
    if (store_->Has(finding) || !tried_.insert(bucket).second) return {};
    // What is being made smaller is on disk all the while.
    const fs::path pending = options_.state / "pending" / CorpusName(input);
    if (auto kept = StoreFile(pending, input); !kept) return kept;
    const Bytes small = Smaller(input, row);
    Row last = row;
    bool shown = small == input;
    if (!shown) {
      if (auto again = JudgeSmall(small)) {
        last = *again;
        shown = true;
      }
    }
    std::error_code ignored;
    fs::remove(pending, ignored);
    if (last.outcome == Outcome::kExpectedDeviation) {
      Result stored;
      KeepKnown(small, last, stored);
      return stored;
    }
    shown = shown && last.outcome == Outcome::kFail;
    if (!shown) last = row;
    const Finding final_finding = ToFinding(last);
    if (store_->Has(final_finding)) return {};
    if (auto kept = store_->Add(final_finding, shown ? small : input,
                                target_.extension, Origin());
        !kept) {
      return kept;
    }
    line_(fmt::format("finding: {}", BucketOf(final_finding)));
    return {};
  }

  std::optional<Row> JudgeSmall(const Bytes& input) {
    std::optional<Row> row;
    auto asked = judge_.Ask(
        {input}, [&](std::size_t, const Judged& judged) { row = judged.row; });
    return asked ? row : std::nullopt;
  }

  // Rounds of candidates that are asked together: a process per candidate
  // would be too slow for most drivers.
  Bytes Smaller(const Bytes& input, const Row& row) {
    const Finding wanted = ToFinding(row);
    Bytes best = input;
    const int rounds = row.verdict == "hang" ? 0 : 4;
    for (int round = 0; round < rounds && !stop_ && Seconds() < Budget();
         ++round) {
      std::vector<Bytes> candidates = Candidates(best);
      std::optional<std::size_t> found;
      auto asked =
          judge_.Ask(candidates, [&](std::size_t i, const Judged& judged) {
            const Finding got = ToFinding(judged.row);
            const bool same = judged.row.outcome == row.outcome &&
                              got.kind == wanted.kind &&
                              got.behaviour == wanted.behaviour;
            if (same &&
                (!found || candidates[i].size() < candidates[*found].size())) {
              found = i;
            }
          });
      if (!asked || !found) return best;
      best = std::move(candidates[*found]);
    }
    return best;
  }

  std::vector<Bytes> Candidates(const Bytes& from) {
    std::vector<Bytes> out;
    for (int i = 0; i < 300 && out.size() < 48; ++i) {
      Bytes candidate = target_.mutate(from, random_, target_.max_size);
      if (candidate.size() < from.size()) out.push_back(std::move(candidate));
    }
    return out;
  }

  Provenance Origin() const {
    Provenance origin;
    origin.target = target_.name;
    origin.engine = "driver";
    origin.commit = options_.commit;
    origin.flags = fmt::format("{} {}", judge_.name(), judge_.hello().version);
    origin.seed = options_.seed;
    origin.repro = options_.implementation.repro + " {file}";
    return origin;
  }

  void PrintLine() {
    line_(fmt::format("{:.0f} s: {}, kept {}, findings {} new, {} in all",
                      Seconds(), Describe(result_.statistics, Seconds()),
                      pool_.size(), store_->size() - before_, store_->size()));
  }

  const ForeignOptions& options_;
  const Target& target_;
  const std::atomic<bool>& stop_;
  const std::function<void(const std::string&)>& line_;
  ForeignJudge judge_;
  Random random_;
  std::vector<Bytes> pool_;
  std::size_t again_ = 0;
  std::size_t batches_ = 0;
  std::uint64_t details_ = 0;
  std::unordered_set<std::uint64_t> seen_;
  std::set<std::string> tried_;
  std::optional<FindingStore> store_, known_;
  std::size_t before_ = 0;
  Clock::time_point begin_ = Clock::now();
  ForeignResult result_;
};

}  // namespace

std::expected<ForeignResult, std::string> FuzzForeign(
    const ForeignOptions& options, const std::atomic<bool>& stop,
    const std::function<void(const std::string&)>& line) {
  const Target* target = FindTarget(options.target);
  if (target == nullptr || target->as_vector == nullptr) {
    return std::unexpected(
        fmt::format("{} makes no inputs for drivers", options.target));
  }
  return Foreign(options, *target, stop, line).Run();
}

std::expected<Row, std::string> JudgeInput(
    const conformance::Target& implementation, const Target& target,
    ByteSpan input, const fs::path& scratch, const std::atomic<bool>& stop) {
  ForeignJudge judge(implementation, target, scratch, stop);
  if (auto opened = judge.Open(); !opened) {
    return std::unexpected(opened.error());
  }
  std::optional<Row> row;
  auto asked =
      judge.Ask({{input.begin(), input.end()}},
                [&](std::size_t, const Judged& judged) { row = judged.row; });
  if (!asked) return std::unexpected(asked.error());
  if (!row) return std::unexpected("there is no answer");
  return *row;
}

}  // namespace weightproof::fuzzers
