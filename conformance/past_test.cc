// Past releases, the table of public bugs, and the judge of writers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "build_paths.h"
#include "conformance/driver_data.h"
#include "conformance/history.h"
#include "conformance/host.h"
#include "conformance/run_past.h"
#include "conformance/vector.h"
#include "conformance/writers.h"

namespace weightproof::conformance {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const fs::path kSource = WEIGHTPROOF_SOURCE_DIR;
const fs::path kDrivers = kSource / "impls" / "drivers";

RunOptions Options() {
  RunOptions options;
  options.source_dir = kSource;
  options.build_dir = WEIGHTPROOF_BINARY_DIR;
  return WithDefaults(options);
}

std::vector<std::string> Names(const std::string& text) {
  const auto targets = PastTargets(Options(), *ParsePastName(text));
  if (!targets) return {targets.error().message};
  std::vector<std::string> names;
  for (const Target& target : *targets) names.push_back(target.name);
  return names;
}

TEST(PastNames, HaveAVersionOrARange) {
  EXPECT_FALSE(ParsePastName("ggml/full"));
  EXPECT_FALSE(ParsePastName("@1"));
  const auto one = ParsePastName("ggml/full@3.12.0");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->name, "ggml/full");
  EXPECT_EQ(one->first, "3.12.0");
  EXPECT_EQ(one->last, "3.12.0");
  const auto range = ParsePastName("ggml/*@3.1.1..3.22.1");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, "3.1.1");
  EXPECT_EQ(range->last, "3.22.1");
}

TEST(PastTargets, AreTheReleasesOfARangeInTheirOrder) {
  EXPECT_THAT(
      Names("ggml/full@3.12.0..3.12.4"),
      ElementsAre("ggml/full@3.12.0", "ggml/full@3.12.1", "ggml/full@3.12.4"));
  EXPECT_THAT(Names("ggml@3.15.1"),
              ElementsAre("ggml/metadata@3.15.1", "ggml/full@3.15.1"));
  const auto folders = PastFolders(Options(), *ParsePastName("ggml@3.15.1"));
  ASSERT_TRUE(folders);
  EXPECT_THAT(*folders, ElementsAre("ggml@3.15.1"));
}

TEST(PastTargets, UnknownOnesAreErrorsThatSayWhatThereIs) {
  EXPECT_THAT(Names("ggml/full@9.9.9"), ElementsAre(HasSubstr("3.12.0")));
  EXPECT_THAT(Names("ggml/full@3.12.1..3.12.0"),
              ElementsAre(HasSubstr("no releases")));
  EXPECT_THAT(Names("nobody@1"), ElementsAre(HasSubstr("no past releases")));
}

// Every release has what install.sh checks it by.
TEST(PastReleases, AreLockedByHash) {
  int folders = 0;
  for (const auto& entry : fs::directory_iterator(kDrivers)) {
    const auto releases = PastReleases(entry.path());
    ASSERT_TRUE(releases) << releases.error();
    if (releases->empty()) continue;
    ++folders;
    std::set<std::string> seen;
    for (const PastRelease& release : *releases) {
      EXPECT_TRUE(seen.insert(release.version).second) << release.version;
      const auto instances = LoadPastRelease(entry.path(), release.version,
                                             {kSource, WEIGHTPROOF_BINARY_DIR});
      ASSERT_TRUE(instances) << instances.error();
      ASSERT_FALSE(instances->empty());
      for (const DriverInstance& instance : *instances) {
        EXPECT_TRUE(instance.name.ends_with("@" + release.version));
        EXPECT_EQ(instance.version, release.version);
        EXPECT_TRUE(instance.deviations.empty());
      }
    }
  }
  EXPECT_GE(folders, 4);
}

TEST(History, NamesReleasesAndVectorsThatExist) {
  const auto bugs =
      LoadHistory(kSource / "conformance" / "history" / "history.json");
  ASSERT_TRUE(bugs) << bugs.error();
  const auto vectors = LoadVectors(kSource / "conformance" / "vectors");
  ASSERT_TRUE(vectors);
  std::set<std::string> ids;
  for (const Vector& vector : vectors->vectors) ids.insert(vector.id);
  std::set<std::string> seen;
  for (const HistoryBug& bug : *bugs) {
    EXPECT_TRUE(ids.contains(bug.vector)) << bug.vector;
    EXPECT_TRUE(seen.insert(bug.report + bug.implementation).second)
        << bug.report;
    for (const std::string& version : {bug.before, bug.after}) {
      if (version.empty()) continue;
      const std::string name = bug.implementation + "@" + version;
      EXPECT_THAT(Names(name), ElementsAre(name));
    }
  }
}

// ---- writers ----

std::vector<WriteContent> Contents() {
  const auto contents =
      LoadContents(kSource / "conformance" / "writing" / "contents.json");
  EXPECT_TRUE(contents);
  return contents ? *contents : std::vector<WriteContent>();
}

// The file as the host would hand it to a plug-in.
std::string Encoded(const WriteContent& content) {
  Json data = Json::array();
  for (const std::string& bytes : content.data) {
    std::string hex;
    for (const char c : bytes) {
      hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    }
    data.push_back({{"hex", hex}});
  }
  const auto file = EncodeContents({{"dump", content.dump}, {"data", data}});
  EXPECT_TRUE(file) << file.error();
  return file ? *file : "";
}

WrittenFile Judged(const std::string& file, const WriteContent& content) {
  return JudgeWritten(
      {reinterpret_cast<const std::uint8_t*>(file.data()), file.size()},
      content);
}

TEST(Writing, AFaithfulFileOfEveryContentIsHealthy) {
  const auto contents = Contents();
  EXPECT_GE(contents.size(), 10u);
  for (const WriteContent& content : contents) {
    const WrittenFile judged = Judged(Encoded(content), content);
    EXPECT_EQ(judged.verdict, "accept") << content.name;
    EXPECT_EQ(judged.difference, "") << content.name;
    WriteRow row;
    row.judged = judged;
    EXPECT_TRUE(row.Healthy()) << content.name;
  }
}

TEST(Writing, EveryDifferenceIsNamed) {
  for (const WriteContent& content : Contents()) {
    WriteContent other = content;
    Json& value = other.dump["kv"].back()["value"];
    if (!value.is_string()) continue;
    value = value.get<std::string>() + "1";
    EXPECT_THAT(Judged(Encoded(content), other).difference,
                HasSubstr("instead of"))
        << content.name;
  }
  for (const WriteContent& content : Contents()) {
    if (content.data.empty()) continue;
    std::string file = Encoded(content);
    WriteContent other = content;
    other.data.front().front() ^= 1;
    EXPECT_THAT(Judged(file, other).difference, HasSubstr("other bytes"));
    other = content;
    other.dump["tensors"][0]["name"] = "another";
    EXPECT_THAT(Judged(file, other).difference, HasSubstr("is missing"));
    file.resize(file.size() / 2);
    EXPECT_EQ(Judged(file, content).verdict, "reject");
  }
}

TEST(Writing, ExplanationsMatchWhatWasFound) {
  WriteRow row;
  row.implementation = "a/b";
  row.content = "strings";
  row.judged = WrittenFile{};
  row.judged->difference = "t.empty: is missing";
  const std::vector<Explanation> known = {{"a/*", "str*", "t.empty", "trims"},
                                          {"*", "*", "other", "no"}};
  EXPECT_EQ(Explain(row, known), "trims");
  row.content = "arrays";
  EXPECT_EQ(Explain(row, known), "");
}

}  // namespace
}  // namespace weightproof::conformance
