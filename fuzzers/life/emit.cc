#include "fuzzers/life/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace weightproof::fuzzers {
namespace {

constexpr std::size_t kLargest = 64 << 10;

// Letters, digits and underscores.
std::string Identifier(std::string_view name) {
  std::string out;
  for (const char c : name) {
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return out;
}

// TestGgufAlignValueZero.
std::string CamelCase(std::string_view name) {
  std::string out = "Test";
  bool upper = true;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      upper = true;
      continue;
    }
    out += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = false;
  }
  return out;
}

// Bytes in lines of twelve.
std::string HexLines(const Bytes& file, std::string_view indent) {
  std::string out;
  for (std::size_t i = 0; i < file.size(); ++i) {
    if (i % 12 == 0) out += indent;
    out += fmt::format("0x{:02x},{}", file[i],
                       i % 12 == 11 || i + 1 == file.size() ? "\n" : " ");
  }
  return out;
}

// Lines of a comment, wrapped, each with its mark.
std::string Comment(const EmitCase& about, std::string_view mark) {
  std::string text = about.rule + ": " + about.statement;
  if (!about.notes.empty()) text += ". " + about.notes;
  std::string out, line;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t space =
        std::min(text.find_first_of(" \n", at), text.size());
    const std::string word = text.substr(at, space - at);
    if (!line.empty() && line.size() + word.size() + 1 > 74) {
      out += fmt::format("{} {}\n", mark, line);
      line.clear();
    }
    if (!word.empty()) line += (line.empty() ? "" : " ") + word;
    at = space + 1;
  }
  return out + fmt::format("{} {}\n", mark, line);
}

std::string Cpp(const EmitCase& about) {
  return fmt::format(
      R"({0}#include "gguf.h"

#include <cstdio>

static const unsigned char file_bytes[] = {{
{1}}};

static bool test_{2}() {{
    const char * path = "{2}.gguf";
    FILE * out = std::fopen(path, "wb");
    if (out == nullptr) {{
        return false;
    }}
    const bool written =
        std::fwrite(file_bytes, 1, sizeof(file_bytes), out) == sizeof(file_bytes);
    std::fclose(out);

    struct gguf_init_params params = {{
        /*no_alloc =*/ true,
        /*ctx      =*/ nullptr,
    }};
    struct gguf_context * ctx = gguf_init_from_file(path, params);
    const bool read = ctx != nullptr;
    if (ctx != nullptr) {{
        gguf_free(ctx);
    }}
    std::remove(path);
    return written && read == {3};
}}

int main() {{
    const bool ok = test_{2}();
    std::printf("{2}: %s\n", ok ? "OK" : "FAIL");
    return ok ? 0 : 1;
}}
)",
      Comment(about, "//"), HexLines(about.file, "    "),
      Identifier(about.name), about.accept ? "true" : "false");
}

std::string Rust(const EmitCase& about) {
  return fmt::format(
      R"({0}use candle_core::quantized::gguf_file::Content;

const FILE: &[u8] = &[
{1}];

#[test]
fn {2}() {{
    let mut reader = std::io::Cursor::new(FILE);
    let content = Content::read(&mut reader);
    assert!(content.{3}(), "{4}");
}}
)",
      Comment(about, "//"), HexLines(about.file, "    "),
      Identifier(about.name), about.accept ? "is_ok" : "is_err",
      about.accept ? "a sound file was refused" : "a broken file was read");
}

std::string Go(const EmitCase& about) {
  return fmt::format(
      R"({0}package gguf_parser

import (
	"os"
	"path/filepath"
	"testing"
)

func {2}(t *testing.T) {{
	file := []byte{{
{1}	}}
	path := filepath.Join(t.TempDir(), "case.gguf")
	if err := os.WriteFile(path, file, 0o600); err != nil {{
		t.Fatal(err)
	}}
	_, err := ParseGGUFFile(path)
	if err {3} nil {{
		t.Fatal("{4}")
	}}
}}
)",
      Comment(about, "//"), HexLines(about.file, "\t\t"), CamelCase(about.name),
      about.accept ? "!=" : "==",
      about.accept ? "a sound file was refused" : "a broken file was read");
}

std::string Python(const EmitCase& about) {
  return fmt::format(
      R"({0}import pytest
from gguf import GGUFReader

FILE = bytes([
{1}])


def test_{2}(tmp_path):
    path = tmp_path / "case.gguf"
    path.write_bytes(FILE)
{3})",
      Comment(about, "#"), HexLines(about.file, "    "), Identifier(about.name),
      about.accept ? "    GGUFReader(path)\n"
                   : "    with pytest.raises(Exception):\n"
                     "        GGUFReader(path)\n");
}

std::string TypeScript(const EmitCase& about) {
  return fmt::format(
      R"({0}import {{ mkdtempSync, writeFileSync }} from "node:fs";
import {{ tmpdir }} from "node:os";
import {{ join }} from "node:path";
import {{ expect, it }} from "vitest";
import {{ gguf }} from "@huggingface/gguf";

const file = new Uint8Array([
{1}]);

it("{2}", async () => {{
	const path = join(mkdtempSync(join(tmpdir(), "gguf-")), "case.gguf");
	writeFileSync(path, file);
	await expect(gguf(path, {{ allowLocalFile: true }})).{3};
}});
)",
      Comment(about, "//"), HexLines(about.file, "\t"), about.name,
      about.accept ? "resolves.toBeDefined()" : "rejects.toThrow()");
}

}  // namespace

const std::vector<std::string>& EmitLanguages() {
  static const std::vector<std::string> kLanguages = {"cpp", "rust", "go", "py",
                                                      "ts"};
  return kLanguages;
}

std::expected<std::string, std::string> EmitTest(const EmitCase& about,
                                                 std::string_view language) {
  if (about.file.size() > kLargest) {
    return std::unexpected(fmt::format(
        "{} bytes are too many for a source file; minimise it first",
        about.file.size()));
  }
  if (language == "cpp") return Cpp(about);
  if (language == "rust") return Rust(about);
  if (language == "go") return Go(about);
  if (language == "py") return Python(about);
  if (language == "ts") return TypeScript(about);
  return std::unexpected(fmt::format("no such language: {}", language));
}

}  // namespace weightproof::fuzzers
