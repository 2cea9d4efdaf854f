#include "reports/cli/snippets.h"

#include <array>

namespace weightproof::cli {
namespace {

constexpr std::array<Snippet, 5> kSnippets = {{
    {"README.md",
     R"(Each file tests one reader with every vector of `../verdicts.tsv`: id, rule, file, expected verdict.
`WEIGHTPROOF` is the folder of the export. Replace the line marked "your reader".

    pytest test_gguf.py                 # pip install gguf
    go test ./...                       # go get github.com/gpustack/gguf-parser-go
    cargo test                          # gguf.rs as tests/gguf.rs; cargo add gguf
    node --test gguf.test.mjs           # npm install @huggingface/gguf
)"},
    {"test_gguf.py", R"(import os, pathlib, signal
import pytest
from gguf import GGUFReader

ROOT = pathlib.Path(os.environ.get("WEIGHTPROOF", ".."))
CASES = [line.split("\t") for line in (ROOT / "verdicts.tsv").read_text().splitlines()]
signal.signal(signal.SIGALRM, lambda *_: pytest.fail("hang"))

@pytest.mark.parametrize("id, rule, file, expected", CASES, ids=[case[0] for case in CASES])
def test_vector(id, rule, file, expected):
    signal.alarm(2)
    try:
        GGUFReader(ROOT / file)  # your reader
        verdict = "accept"
    except Exception:
        verdict = "reject"
    assert verdict == expected, rule
)"},
    {"gguf_test.go", R"(package gguf

import ("fmt"; "os"; "path/filepath"; "strings"; "testing"
	reader "github.com/gpustack/gguf-parser-go")

func verdict(file string) (v string) {
	defer func() { if r := recover(); r != nil { v = fmt.Sprint("panic: ", r) } }()
	if _, err := reader.ParseGGUFFile(file); err != nil { return "reject" } // your reader
	return "accept"
}

func TestVectors(t *testing.T) {
	root := os.Getenv("WEIGHTPROOF")
	table, _ := os.ReadFile(filepath.Join(root, "verdicts.tsv"))
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n") {
		c := strings.Split(line, "\t")
		t.Run(c[0], func(t *testing.T) { if v := verdict(filepath.Join(root, c[2])); v != c[3] { t.Error(c[1], v) } })
	}
}
)"},
    {"gguf.rs", R"(use std::{env, fs, panic};

#[test]
fn vectors() {
    let root = env::var("WEIGHTPROOF").unwrap();
    let table = fs::read_to_string(format!("{root}/verdicts.tsv")).unwrap();
    let (mut run, mut failed) = (0, 0);
    for c in table.lines().map(|line| line.split('\t').collect::<Vec<_>>()) {
        let bytes = fs::read(format!("{root}/{}", c[2])).unwrap();
        let verdict = match panic::catch_unwind(|| gguf::GGUFFile::read(&bytes)) { // your reader
            Ok(Ok(Some(_))) => "accept",
            Ok(_) => "reject",
            Err(_) => "panic",
        };
        run += 1;
        if verdict != c[3] { failed += 1; println!("{} {}: {verdict}, not {}", c[0], c[1], c[3]); }
    }
    assert_eq!(failed, 0, "of {run} vectors");
}
)"},
    {"gguf.test.mjs", R"(import { readFileSync } from "node:fs";
import { test } from "node:test";
import assert from "node:assert";
import { gguf } from "@huggingface/gguf";

const root = process.env.WEIGHTPROOF ?? "..";
const lines = readFileSync(`${root}/verdicts.tsv`, "utf8").trim().split("\n");
for (const [id, rule, file, expected] of lines.map((line) => line.split("\t"))) {
  test(id, async () => {
    let verdict = "accept";
    try {
      await gguf(`${root}/${file}`, { allowLocalFile: true }); // your reader
    } catch {
      verdict = "reject";
    }
    assert.equal(verdict, expected, rule);
  });
}
)"},
}};

}  // namespace

std::span<const Snippet> Snippets() { return kSnippets; }

}  // namespace weightproof::cli
