#include "reference/gguf/profile.h"

namespace weightproof::gguf {
namespace {

Profile FromColumn(std::string_view name, std::string_view version,
                   Cell Rule::* column) {
  Profile profile{};
  profile.name = name;
  profile.version = version;
  const std::span<const Rule> all = Rules();
  for (std::size_t i = 0; i < profile.verdict.size(); ++i) {
    profile.verdict[i] = all[rules::kFirst + i].*column;
  }
  return profile;
}

std::array<Profile, 3> MakeProfiles() {
  std::array<Profile, 3> profiles = {
      FromColumn("spec", "3", &Rule::spec),
      FromColumn("ggml", "0.23", &Rule::ggml),
      FromColumn("candle", "0.11", &Rule::candle),
  };
  profiles[0].base_meaning = BaseMeaning::kRelative;
  profiles[2].opens_sets = false;
  return profiles;
}

}  // namespace

Cell Profile::Of(RuleIndex rule) const {
  return verdict.at(static_cast<std::size_t>(rule - rules::kFirst));
}

std::span<const Profile> Profiles() {
  static const std::array<Profile, 3> profiles = MakeProfiles();
  return profiles;
}

const Profile& SpecProfile() { return Profiles()[0]; }
const Profile& GgmlProfile() { return Profiles()[1]; }
const Profile& CandleProfile() { return Profiles()[2]; }

const Profile* FindProfile(std::string_view name) {
  for (const Profile& profile : Profiles()) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

}  // namespace weightproof::gguf
