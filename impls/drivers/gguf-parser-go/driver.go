// Drives gguf-parser-go: ParseGGUFFile(path).
package main

import (
	"fmt"

	gguf "github.com/gpustack/gguf-parser-go"
	"weightproof.invalid/protocol"
)

func value(v any, level int) any {
	array, ok := v.(gguf.GGUFMetadataKVArrayValue)
	if !ok {
		_, scalar := protocol.Scalar(v)
		return scalar
	}
	var items []any
	if protocol.Reported(len(array.Array), level) {
		items = make([]any, len(array.Array))
		for i, item := range array.Array {
			items[i] = value(item, level+1)
		}
	}
	return protocol.Object{"elem": typeName(array.Type), "len": fmt.Sprint(array.Len),
		"items": items}
}

// An empty array may have a type that is none.
func typeName(t gguf.GGUFMetadataValueType) string {
	if int(t) < len(protocol.TypeNames) {
		return protocol.TypeNames[t]
	}
	return fmt.Sprint(uint32(t))
}

func parse(r protocol.Request) protocol.Object {
	file, err := gguf.ParseGGUFFile(r.File)
	if err != nil {
		return protocol.Reject(err)
	}
	kv := []any{}
	for _, entry := range file.Header.MetadataKV {
		kv = append(kv, protocol.Object{"key": protocol.String(entry.Key),
			"type": typeName(entry.ValueType), "value": value(entry.Value, 1)})
	}
	tensors := []any{}
	for _, t := range file.TensorInfos {
		tensors = append(tensors, protocol.Object{"name": protocol.String(t.Name),
			"dims": protocol.Strings(t.Dimensions), "type": uint32(t.Type),
			"offset": fmt.Sprint(t.Offset), "size": fmt.Sprint(t.Bytes())})
	}
	endian := "little"
	if file.Header.Magic == gguf.GGUFMagicGGUFBe {
		endian = "big"
	}
	return protocol.Accept(protocol.Object{"version": uint32(file.Header.Version),
		"endian": endian, "alignment": nil,
		"data_offset": fmt.Sprint(file.TensorDataStartOffset),
		"file_size":   fmt.Sprint(uint64(file.Size)), "kv": kv, "tensors": tensors,
		"policies": nil})
}

func main() {
	protocol.Serve(protocol.Object{"name": "gguf-parser-go", "version": protocol.Version("github.com/gpustack/gguf-parser-go"),
		"dump": []string{"version", "endian", "data_offset", "file_size", "kv", "tensors",
			"size", "order"}},
		map[string]func(protocol.Request) protocol.Object{"gguf.parse": parse})
}
