// Drives ollama's two readers: driver ggml is fs/ggml, what the server uses;
// driver gguf is fs/gguf. fs/gguf reads as it is asked and only logs what goes
// wrong then: its lists end early, without an error.
package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/ollama/ollama/fs/ggml"
	"github.com/ollama/ollama/fs/gguf"
	"weightproof.invalid/protocol"
)

// The libraries keep the values private; their Go types are the value types.
func value(v reflect.Value) (string, any) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct { // fs/ggml: array{size, values}
		v = v.FieldByName("values")
	}
	if v.Kind() == reflect.Slice {
		var items []any
		if protocol.Reported(v.Len(), 1) {
			items = make([]any, v.Len())
			for i := range items {
				_, items[i] = value(v.Index(i))
			}
		}
		elem, _ := value(reflect.New(v.Type().Elem()))
		return "array", protocol.Object{"elem": elem, "len": fmt.Sprint(v.Len()),
			"items": items}
	}
	// A private value may be read by its kind only.
	scalar := reflect.New(v.Type()).Elem()
	switch {
	case v.CanInt():
		scalar.SetInt(v.Int())
	case v.CanUint():
		scalar.SetUint(v.Uint())
	case v.CanFloat():
		scalar.SetFloat(v.Float())
	case v.Kind() == reflect.Bool:
		scalar.SetBool(v.Bool())
	default:
		scalar.SetString(v.String())
	}
	return protocol.Scalar(scalar.Interface())
}

func entry(key string, v reflect.Value) protocol.Object {
	name, v2 := value(v)
	return protocol.Object{"key": protocol.String(key), "type": name, "value": v2}
}

func tensor(name string, shape []uint64, kind uint32, offset uint64, size any) protocol.Object {
	return protocol.Object{"name": protocol.String(name), "dims": protocol.Strings(shape),
		"type": kind, "offset": fmt.Sprint(offset), "size": fmt.Sprint(size)}
}

func dump(version, dataOffset any, kv, tensors []any) protocol.Object {
	return protocol.Object{"version": version, "endian": nil, "alignment": nil,
		"data_offset": dataOffset, "file_size": nil, "kv": kv, "tensors": tensors,
		"policies": nil}
}

// fs/ggml keeps keys in a map and adds general.parameter_count of its own.
func parseGGML(r protocol.Request) protocol.Object {
	file, err := os.Open(r.File)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	model, err := ggml.Decode(file, -1)
	if err != nil {
		return protocol.Reject(err)
	}
	kv, tensors := []any{}, []any{}
	for _, key := range slices.Sorted(maps.Keys(model.KV())) {
		if key != "general.parameter_count" {
			kv = append(kv, entry(key, reflect.ValueOf(model.KV()[key])))
		}
	}
	for _, t := range model.Tensors().Items() {
		tensors = append(tensors, tensor(t.Name, t.Shape, t.Kind, t.Offset, t.Size()))
	}
	answer := dump(nil, fmt.Sprint(model.Tensors().Offset), kv, tensors)
	answer["ordered"] = false
	return protocol.Accept(answer)
}

func parseGGUF(r protocol.Request) protocol.Object {
	file, err := gguf.Open(r.File)
	if err != nil {
		return protocol.Reject(err)
	}
	defer file.Close()
	kv, tensors := []any{}, []any{}
	for _, keyValue := range file.KeyValues() {
		v := reflect.ValueOf(keyValue.Value).FieldByName("value")
		kv = append(kv, entry(keyValue.Key, v))
	}
	for _, t := range file.TensorInfos() {
		tensors = append(tensors, tensor(t.Name, t.Shape, uint32(t.Type), t.Offset, t.NumBytes()))
	}
	return protocol.Accept(dump(file.Version, nil, kv, tensors))
}

func dataGGUF(r protocol.Request) protocol.Object {
	file, err := gguf.Open(r.File)
	if err != nil {
		return protocol.Reject(err)
	}
	defer file.Close()
	for i, info := range file.TensorInfos() {
		if i != r.Tensor() {
			continue
		}
		_, reader, err := file.TensorReader(info.Name)
		if err != nil {
			return protocol.Reject(err)
		}
		data, err := io.ReadAll(reader)
		if err != nil {
			return protocol.Reject(err)
		}
		return protocol.Data(r, data)
	}
	return protocol.Reject(fmt.Errorf("no tensor of this number"))
}

// fs/ggml writes files too. Keys outside the namespaces it knows get that of
// the architecture.
func write(r protocol.Request) protocol.Object {
	kv := ggml.KV{}
	for _, entry := range r.Dump.KV {
		kv[entry.Key] = protocol.Parse(entry.Type, entry.Value)
	}
	var tensors []*ggml.Tensor
	for i, t := range r.Dump.Tensors {
		var shape []uint64
		for _, dim := range t.Dims {
			var n uint64
			if _, err := fmt.Sscan(dim, &n); err != nil {
				panic(err)
			}
			shape = append(shape, n)
		}
		tensors = append(tensors, &ggml.Tensor{Name: t.Name, Kind: t.Type,
			Shape: shape, WriterTo: bytes.NewReader(r.Bytes(i))})
	}
	file, err := os.Create(r.Out)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if err := ggml.WriteGGUF(file, kv, tensors); err != nil {
		return protocol.Reject(err)
	}
	return protocol.Object{"status": "ok", "verdict": "accept"}
}

func main() {
	which := strings.Join(os.Args[1:], " ")
	hello := protocol.Object{"name": "ollama/" + which, "version": protocol.Version("github.com/ollama/ollama"),
		"dump": []string{"data_offset", "kv", "tensors", "size"}}
	operations := map[string]func(protocol.Request) protocol.Object{
		"gguf.parse": parseGGML, "gguf.write": write}
	if which == "gguf" {
		hello["dump"] = []string{"version", "kv", "tensors", "size", "order"}
		operations = map[string]func(protocol.Request) protocol.Object{
			"gguf.parse": parseGGUF, "gguf.tensor": dataGGUF}
	}
	protocol.Serve(hello, operations)
}
