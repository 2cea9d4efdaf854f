// One recipe to one vector. Internal to the build of the vectors.
#ifndef WEIGHTPROOF_CONFORMANCE_VECTOR_BUILD_ONE_H_
#define WEIGHTPROOF_CONFORMANCE_VECTOR_BUILD_ONE_H_

#include <set>
#include <string>
#include <vector>

#include "conformance/vector.h"
#include "conformance/vector_answers.h"
#include "corpus/recipe.h"

namespace weightproof::conformance {

inline constexpr const char* kProfiles[] = {"spec", "ggml", "candle"};

// The vector, or what is wrong with the recipe: one entry per difference.
Vector BuildOne(const corpus::Assembly& assembly,
                std::vector<std::string>& problems);

// What the trusted reader says of a set of files: verdict, rule, offset, file,
// policies. waived is a rule to be accepted instead, or empty.
Expectation AskSet(const std::vector<NamedFile>& files,
                   const std::vector<FileView>& views, const char* profile,
                   const std::string& waived);

// The entries ("header", "kv[3]", "tensor[0]") in which two files differ; data
// and padding do not count. Empty if one file is the start of the other. base
// is where the GGUF of file starts.
std::set<std::string> DifferingEntries(const FileView& file,
                                       const FileView& twin,
                                       std::uint64_t base);

// Looks for a second fault: parses file with the named profile except that
// rule is accepted. Empty if that accepts without findings, if it stops at the
// same rule (a fault after which no reader can go on), or at one of masks.
std::string SecondFault(const FileView& file, const Question& question,
                        const std::string& rule,
                        const std::vector<std::string>& masks);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_VECTOR_BUILD_ONE_H_
