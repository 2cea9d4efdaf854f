module weightproof.invalid/ollama

go 1.24.1

require (
	github.com/ollama/ollama v0.17.4
	weightproof.invalid/protocol v0.0.0
)

require golang.org/x/sync v0.17.0 // indirect

replace weightproof.invalid/protocol => ../protocol_go
