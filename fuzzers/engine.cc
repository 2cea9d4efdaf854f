#include "fuzzers/engine.h"

#include <algorithm>
#include <utility>

namespace weightproof::fuzzers {

void Statistics::Count(const Execution& execution) {
  ++executions;
  if (execution.accepted) {
    ++accepted;
  } else {
    const auto it = refused.find(execution.stage);
    if (it != refused.end()) {
      ++it->second;
    } else {
      refused.emplace(execution.stage, 1);
    }
  }
  if (!execution.known_rule.empty()) ++known[std::string(execution.known_rule)];
}

void Statistics::Add(const Statistics& other) {
  executions += other.executions;
  accepted += other.accepted;
  for (const auto& [stage, count] : other.refused) refused[stage] += count;
  for (const auto& [rule, count] : other.known) known[rule] += count;
}

Engine::Engine(const Target& target, Subjects subjects, EngineOptions options,
               EngineEvents events)
    : target_(target),
      subjects_(std::move(subjects)),
      options_(options),
      events_(std::move(events)),
      random_(options.seed) {}

void Engine::Execute(ByteSpan input) {
  if (events_.before) events_.before(input);
  const Execution execution = target_.run(subjects_, input, Depth::kSampled);
  statistics_.Count(execution);
  bool fresh_feature = false;
  for (const std::uint64_t feature : execution.features) {
    if (feature != 0) fresh_feature |= features_.insert(feature).second;
  }
  if (fresh_feature) {
    Bytes copy(input.begin(), input.end());
    if (events_.on_new) events_.on_new(copy);
    if (pool_.size() < options_.max_pool) {
      pool_.push_back(std::move(copy));
    } else {
      pool_[oldest_++ % pool_.size()] = std::move(copy);
    }
  }
  if (execution.finding) {
    const bool fresh = buckets_.insert(BucketOf(*execution.finding)).second;
    if (fresh && events_.on_finding) {
      events_.on_finding(*execution.finding, input);
    }
    if (options_.stop_at_finding) stopped_ = true;
  }
  if (events_.after && !events_.after(execution)) stopped_ = true;
}

void Engine::Feed(ByteSpan input) { Execute(input); }

Bytes Engine::NextInput() {
  if (pool_.empty() || random_.OneIn(16)) return target_.generate(random_);
  // Newer inputs more often: they are nearer to what is not yet seen.
  std::size_t index = random_.Below(pool_.size());
  if (random_.OneIn(2)) {
    index = std::max<std::size_t>(index, random_.Below(pool_.size()));
  }
  const Bytes& base = pool_[index];
  if (random_.OneIn(8)) {
    return target_.cross(base, pool_[random_.Below(pool_.size())], random_,
                         target_.max_size);
  }
  return target_.mutate(base, random_, target_.max_size);
}

void Engine::Run() {
  while (!stopped_ && statistics_.executions < options_.executions) {
    Execute(NextInput());
  }
}

std::optional<Hunted> Hunt(const Target& target, const Subjects& subjects,
                           std::uint64_t seed, std::uint64_t executions) {
  std::optional<Hunted> found;
  EngineEvents events;
  events.on_finding = [&](const Finding& finding, ByteSpan input) {
    if (!found) found = Hunted{finding, {input.begin(), input.end()}, 0};
  };
  EngineOptions options;
  options.seed = seed;
  options.executions = executions;
  options.stop_at_finding = true;
  Engine engine(target, subjects, options, std::move(events));
  engine.Run();
  if (found) found->executions = engine.statistics().executions;
  return found;
}

namespace {

class Shrinker {
 public:
  Shrinker(ByteSpan input, const std::function<bool(ByteSpan)>& still,
           std::uint64_t tries)
      : best_(input.begin(), input.end()), still_(still), left_(tries) {}

  Bytes Run() {
    bool smaller = true;
    while (smaller && left_ > 0) {
      smaller = false;
      for (std::size_t piece = best_.size(); piece > 0; piece /= 2) {
        smaller |= TakeOut(piece);
      }
    }
    Simplify();
    return std::move(best_);
  }

 private:
  bool Try(Bytes candidate) {
    if (left_ == 0) return false;
    --left_;
    if (!still_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool TakeOut(std::size_t piece) {
    bool any = false;
    for (std::size_t at = best_.size(); at > 0 && left_ > 0;) {
      at = at > piece ? at - piece : 0;
      if (at >= best_.size()) continue;
      const std::size_t end = std::min(at + piece, best_.size());
      Bytes candidate(best_.begin(),
                      best_.begin() + static_cast<std::ptrdiff_t>(at));
      candidate.insert(candidate.end(),
                       best_.begin() + static_cast<std::ptrdiff_t>(end),
                       best_.end());
      any |= Try(std::move(candidate));
    }
    return any;
  }

  void Simplify() {
    for (std::size_t i = 0; i < best_.size() && left_ > 0; ++i) {
      if (best_[i] == 0) continue;
      Bytes candidate = best_;
      candidate[i] = 0;
      Try(std::move(candidate));
    }
  }

  Bytes best_;
  const std::function<bool(ByteSpan)>& still_;
  std::uint64_t left_;
};

}  // namespace

Bytes Minimise(ByteSpan input, const std::function<bool(ByteSpan)>& still,
               std::uint64_t max_tries) {
  return Shrinker(input, still, max_tries).Run();
}

}  // namespace weightproof::fuzzers
