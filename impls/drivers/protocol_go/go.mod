module weightproof.invalid/protocol

go 1.24
