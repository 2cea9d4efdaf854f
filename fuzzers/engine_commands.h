// The command lines of the engines' programs.
#ifndef WEIGHTPROOF_FUZZERS_ENGINE_COMMANDS_H_
#define WEIGHTPROOF_FUZZERS_ENGINE_COMMANDS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fuzzers/campaign.h"

namespace weightproof::fuzzers {

struct EngineCommand {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;
};

// Of job `number` (from 0), for at least one second. Counters go to
// `statistics`; what crashes goes to state/incoming, or under state/afl.
EngineCommand CommandOf(const CampaignOptions& options, int number,
                        std::uint64_t seed, std::uint64_t seconds,
                        const std::filesystem::path& statistics);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_ENGINE_COMMANDS_H_
