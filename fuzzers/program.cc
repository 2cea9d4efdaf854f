#include "fuzzers/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "fuzzers/corpus_folder.h"
#include "fuzzers/engine.h"
#include "fuzzers/finding_store.h"
#include "fuzzers/guarded.h"
#include "fuzzers/shared_statistics.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;

constexpr int kFound = 1, kUsage = 2, kBroken = 5, kNotHere = 77;

volatile std::sig_atomic_t interrupted = 0;

int Fail(int code, std::string_view what) {
  fmt::print(stderr, "fuzz: {}\n", what);
  return code;
}

struct Arguments {
  bool fuzz = false, adopt = false, minimise = false, stop_at_finding = false;
  std::uint64_t executions = UINT64_MAX, seconds = 0, seed = 1;
  std::uint64_t most = UINT64_MAX, files = UINT64_MAX;
  std::string state, statistics, tested, commit = "unknown", engine = "builtin";
  std::vector<std::string> paths;
};

std::expected<Arguments, std::string> Parse(int argc, char** argv) {
  Arguments out;
  const auto number = [](std::string_view text, std::uint64_t& value) {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      out.paths.emplace_back(word);
      continue;
    }
    if (word == "--fuzz" || word == "--adopt" || word == "--minimise" ||
        word == "--stop-at-finding") {
      (word == "--fuzz"       ? out.fuzz
       : word == "--adopt"    ? out.adopt
       : word == "--minimise" ? out.minimise
                              : out.stop_at_finding) = true;
      continue;
    }
    const std::string_view value = i + 1 < argc ? argv[++i] : "";
    bool fine = !value.empty();
    if (word == "--executions") {
      fine = number(value, out.executions);
    } else if (word == "--seconds") {
      fine = number(value, out.seconds);
    } else if (word == "--most") {
      fine = number(value, out.most);
    } else if (word == "--files") {
      fine = number(value, out.files);
    } else if (word == "--seed") {
      fine = number(value, out.seed);
    } else if (word == "--state") {
      out.state = value;
    } else if (word == "--statistics") {
      out.statistics = value;
    } else if (word == "--tested") {
      out.tested = value;
    } else if (word == "--commit") {
      out.commit = value;
    } else if (word == "--engine") {
      out.engine = value;
    } else {
      fine = false;
    }
    if (!fine) return std::unexpected(fmt::format("{} {}?", word, value));
  }
  return out;
}

class Program {
 public:
  Program(const Target& target, Arguments arguments)
      : target_(target), arguments_(std::move(arguments)) {}

  int Run() {
    subjects_ = target_.subjects();
    if (subjects_.trusted == nullptr || subjects_.tested.empty()) {
      if (arguments_.tested.empty()) {
        return Fail(kNotHere, "NOT RUN: nothing to compare with here");
      }
    }
    if (!arguments_.tested.empty()) {
      const auto opened = OpenImplementation(arguments_.tested);
      if (!opened) return Fail(kBroken, opened.error());
      subjects_.tested = {*opened};
    }
    if (arguments_.fuzz) return Fuzz();
    if (arguments_.paths.empty()) return Fail(kUsage, "which input?");
    if (arguments_.adopt) return Adopt();
    return arguments_.minimise ? MinimiseCorpus() : Replay();
  }

 private:
  std::expected<std::vector<CorpusInput>, std::string> Load() const {
    std::vector<CorpusInput> out;
    for (const std::string& path : arguments_.paths) {
      std::error_code error;
      if (fs::is_directory(path, error)) {
        auto folder = LoadCorpus(path);
        if (!folder) return folder;
        std::ranges::move(*folder, std::back_inserter(out));
      } else {
        auto one = LoadInput(path);
        if (!one) return std::unexpected(one.error());
        out.push_back({path, std::move(*one)});
      }
    }
    return out;
  }

  int Replay() {
    const auto inputs = Load();
    if (!inputs) return Fail(kBroken, inputs.error());
    Statistics statistics;
    std::size_t found = 0;
    for (const CorpusInput& input : *inputs) {
      const Execution execution =
          target_.run(subjects_, input.bytes, Depth::kAll);
      statistics.Count(execution);
      if (!execution.finding) continue;
      ++found;
      fmt::print("{}: {}\n  {}\n", input.name, BucketOf(*execution.finding),
                 execution.finding->description);
    }
    fmt::print("{}: {} inputs replayed, {} accepted, {} findings\n",
               target_.name, statistics.executions, statistics.accepted, found);
    return found == 0 ? 0 : kFound;
  }

  Provenance Origin() const {
    Provenance origin;
    origin.target = target_.name;
    origin.engine = arguments_.engine;
    origin.commit = arguments_.commit;
    origin.flags = WEIGHTPROOF_FUZZ_FLAGS;
    origin.seed = arguments_.seed;
    origin.repro =
        fmt::format("./weightproof fuzz {} --replay {{file}}", target_.name);
    return origin;
  }

  // Minimised in this process: for findings that end no process.
  Bytes Smaller(const Finding& finding, ByteSpan input) {
    const std::string bucket = BucketOf(finding);
    return Minimise(input, [&](ByteSpan candidate) {
      const auto execution = target_.run(subjects_, candidate, Depth::kSampled);
      return execution.finding && BucketOf(*execution.finding) == bucket;
    });
  }

  int Fuzz() {
    if (arguments_.seconds == 0 && arguments_.executions == UINT64_MAX) {
      return Fail(kUsage, "--seconds or --executions?");
    }
    if (auto prepared = Prepare(); !prepared) {
      return Fail(kBroken, prepared.error());
    }
    EngineOptions options;
    options.seed = arguments_.seed;
    options.executions = arguments_.executions;
    options.stop_at_finding = arguments_.stop_at_finding;
    Engine engine(target_, subjects_, options, Events());
    for (const CorpusInput& input : seeds_) engine.Feed(input.bytes);
    engine.Run();
    if (shared_) shared_->ClearCurrent();
    if (!problem_.empty()) return Fail(kBroken, problem_);
    const Statistics& done = engine.statistics();
    fmt::print(
        "{}: seed {}: {} executions, {} accepted, {} inputs kept, {} "
        "findings\n",
        target_.name, arguments_.seed, done.executions, done.accepted,
        engine.pool_size(), found_);
    return found_ == 0 ? 0 : kFound;
  }

  std::expected<void, std::string> Prepare() {
    if (!arguments_.statistics.empty()) {
      auto shared = SharedStatistics::Open(arguments_.statistics);
      if (!shared) return std::unexpected(shared.error());
      shared_ = std::move(*shared);
    }
    if (arguments_.state.empty()) return {};
    auto store = FindingStore::Open(fs::path(arguments_.state) / "findings");
    if (!store) return std::unexpected(store.error());
    store_ = std::move(*store);
    const fs::path corpus = fs::path(arguments_.state) / "corpus";
    std::error_code error;
    if (!fs::exists(corpus, error) || fs::is_empty(corpus, error)) return {};
    auto inputs = LoadCorpus(corpus);
    if (!inputs) return std::unexpected(inputs.error());
    seeds_ = std::move(*inputs);
    return {};
  }

  void Store(std::expected<void, std::string> stored) {
    if (stored || !problem_.empty()) return;
    problem_ = stored.error();
    interrupted = 1;
  }

  EngineEvents Events() {
    EngineEvents events;
    if (shared_) {
      events.before = [this](ByteSpan input) { shared_->SetCurrent(input); };
    }
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::seconds(arguments_.seconds);
    events.after = [this, end](const Execution& execution) {
      if (shared_) shared_->Count(execution);
      if (arguments_.seconds != 0 && (++ticks_ & 63) == 0 &&
          std::chrono::steady_clock::now() >= end) {
        return false;
      }
      return interrupted == 0;
    };
    if (store_) {
      events.on_new = [this](ByteSpan input) {
        Store(
            StoreFile(fs::path(arguments_.state) / "corpus" / CorpusName(input),
                      input, false));
      };
    }
    events.on_finding = [this](const Finding& finding, ByteSpan input) {
      ++found_;
      fmt::print("FINDING {}\n  {}\n", BucketOf(finding), finding.description);
      std::fflush(stdout);
      if (!store_ || store_->Has(finding)) return;
      Store(store_->Add(finding, Smaller(finding, input), target_.extension,
                        Origin()));
    };
    return events;
  }

  int Adopt() {
    if (arguments_.state.empty()) return Fail(kUsage, "--state?");
    auto store = FindingStore::Open(fs::path(arguments_.state) / "findings");
    if (!store) return Fail(kBroken, store.error());
    int result = 0;
    for (const std::string& path : arguments_.paths) {
      const auto input = LoadInput(path);
      if (!input) return Fail(kBroken, input.error());
      const auto adopted = AdoptOne(*store, *input);
      if (!adopted) return Fail(kBroken, adopted.error());
      if (*adopted) result = kFound;
    }
    return result;
  }

  // False if the input shows nothing when it is run again.
  std::expected<bool, std::string> AdoptOne(FindingStore& store,
                                            const Bytes& input) {
    auto first = RunGuarded(target_, subjects_, input, Depth::kSampled);
    if (!first) return std::unexpected(first.error());
    if (!*first) return false;
    const Finding& finding = **first;
    fmt::print("FINDING {}\n  {}\n", BucketOf(finding), finding.description);
    if (store.Has(finding)) return true;
    const std::string bucket = BucketOf(finding);
    // Each try is a process: few of them, fewest for hangs.
    const bool hang = finding.kind == FindingKind::kHang;
    const Bytes small = Minimise(
        input,
        [&](ByteSpan candidate) {
          const auto again =
              RunGuarded(target_, subjects_, candidate, Depth::kSampled);
          return again && *again && BucketOf(**again) == bucket;
        },
        hang ? 3 : 400);
    const auto stored = store.Add(finding, small, target_.extension, Origin());
    if (!stored) return std::unexpected(stored.error());
    return true;
  }

  int MinimiseCorpus() {
    if (arguments_.paths.size() != 2) return Fail(kUsage, "FOLDER OUT?");
    auto inputs = LoadCorpus(arguments_.paths[0]);
    if (!inputs) return Fail(kBroken, inputs.error());
    std::ranges::sort(*inputs, [](const CorpusInput& a, const CorpusInput& b) {
      return a.bytes.size() != b.bytes.size() ? a.bytes.size() < b.bytes.size()
                                              : a.bytes < b.bytes;
    });
    std::unordered_set<std::uint64_t> seen;
    std::size_t kept = 0, bytes = 0;
    for (const CorpusInput& input : *inputs) {
      const auto execution = target_.run(subjects_, input.bytes, Depth::kAll);
      bool fresh = false;
      for (const std::uint64_t feature : execution.features) {
        if (feature != 0) fresh |= seen.insert(feature).second;
      }
      if (!fresh || bytes + input.bytes.size() > arguments_.most ||
          kept >= arguments_.files) {
        continue;
      }
      const auto stored =
          StoreFile(fs::path(arguments_.paths[1]) / CorpusName(input.bytes),
                    input.bytes, false);
      if (!stored) return Fail(kBroken, stored.error());
      ++kept;
      bytes += input.bytes.size();
    }
    fmt::print("{}: {} of {} inputs kept, {} bytes\n", target_.name, kept,
               inputs->size(), bytes);
    return 0;
  }

  const Target& target_;
  Arguments arguments_;
  Subjects subjects_;
  std::optional<SharedStatistics> shared_;
  std::optional<FindingStore> store_;
  std::vector<CorpusInput> seeds_;
  std::string problem_;
  std::uint64_t ticks_ = 0;
  std::size_t found_ = 0;
};

}  // namespace

int TargetMain(const Target& target, int argc, char** argv) {
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });
  auto arguments = Parse(argc, argv);
  if (!arguments) return Fail(kUsage, arguments.error());
  return Program(target, std::move(*arguments)).Run();
}

}  // namespace weightproof::fuzzers
