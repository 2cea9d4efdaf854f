// Package protocol is what the Go drivers share: the line protocol and the
// values of the canonical dump. It knows no format: a driver calls its library
// and reports what that gives. A panic of the library ends the process.
package protocol

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"reflect"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Version is the version of a module that this program is built with.
func Version(module string) string {
	build, _ := debug.ReadBuildInfo()
	for _, dependency := range build.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return ""
}

// Object is a JSON object.
type Object = map[string]any

// Request is what a driver is asked. Base and Index are numbers or decimal
// strings.
type Request struct {
	ID          any    `json:"id"`
	Op          string `json:"op"`
	File        string `json:"file"`
	Out         string `json:"out"`
	Base        any    `json:"base"`
	Index       any    `json:"index"`
	RequireKeys bool   `json:"require_keys"`
	Dump        Dump   `json:"dump"`
	Data        []struct {
		Hex string `json:"hex"`
	} `json:"data"`
}

// Dump is what gguf.write is to write, values as they come: see Parse.
type Dump struct {
	KV []struct {
		Key   string          `json:"key"`
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	} `json:"kv"`
	Tensors []struct {
		Name string   `json:"name"`
		Dims []string `json:"dims"`
		Type uint32   `json:"type"`
	} `json:"tensors"`
}

// Parse is a value of a dump as Go has it; an array is a slice of its type.
func Parse(name string, raw json.RawMessage) any {
	switch name {
	case "u8":
		return parse[uint8](raw)
	case "i8":
		return parse[int8](raw)
	case "u16":
		return parse[uint16](raw)
	case "i16":
		return parse[int16](raw)
	case "u32":
		return parse[uint32](raw)
	case "i32":
		return parse[int32](raw)
	case "bool":
		return parse[bool](raw)
	case "string":
		return parse[string](raw)
	case "u64":
		return scan[uint64](raw)
	case "i64":
		return scan[int64](raw)
	case "f32":
		return math.Float32frombits(uint32(bits(raw)))
	case "f64":
		return math.Float64frombits(bits(raw))
	}
	var list struct {
		Elem  string            `json:"elem"`
		Items []json.RawMessage `json:"items"`
	}
	list = parseAs(raw, list)
	if len(list.Items) == 0 {
		return nil
	}
	first := reflect.TypeOf(Parse(list.Elem, list.Items[0]))
	slice := reflect.MakeSlice(reflect.SliceOf(first), 0, len(list.Items))
	for _, item := range list.Items {
		slice = reflect.Append(slice, reflect.ValueOf(Parse(list.Elem, item)))
	}
	return slice.Interface()
}

func parse[T any](raw json.RawMessage) T {
	var value T
	return parseAs(raw, value)
}

func parseAs[T any](raw json.RawMessage, value T) T {
	if err := json.Unmarshal(raw, &value); err != nil {
		panic(err)
	}
	return value
}

func scan[T any](raw json.RawMessage) T {
	var value T
	if _, err := fmt.Sscan(parse[string](raw), &value); err != nil {
		panic(err)
	}
	return value
}

func bits(raw json.RawMessage) uint64 {
	value, err := strconv.ParseUint(parse[string](raw), 0, 64)
	if err != nil {
		panic(err)
	}
	return value
}

// Bytes are those of tensor i that is to be written.
func (r Request) Bytes(i int) []byte {
	data, err := hex.DecodeString(r.Data[i].Hex)
	if err != nil {
		panic(err)
	}
	return data
}

// Tensor is the number of the tensor asked for.
func (r Request) Tensor() int {
	var index int
	if _, err := fmt.Sscan(fmt.Sprint(r.Index), &index); err != nil {
		panic(err)
	}
	return index
}

// Serve answers requests until standard input ends. hello needs name, version
// and dump; operations maps names to functions that return an answer.
func Serve(hello Object, operations map[string]func(Request) Object) {
	names := []string{}
	for name := range operations {
		names = append(names, name)
	}
	sort.Strings(names)
	for key, value := range (Object{"protocol": 1, "language": "Go", "operations": names,
		"verdicts": []string{"accept", "reject"}, "variants": []string{}, "profile": nil}) {
		hello[key] = value
	}
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var request Request
		if err = json.Unmarshal(line, &request); err != nil {
			panic(err)
		}
		answer := answerTo(request, hello, operations)
		answer["id"] = request.ID
		text, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(append(text, '\n'))
	}
}

func answerTo(r Request, hello Object, operations map[string]func(Request) Object) Object {
	if r.Op == "hello" {
		return hello
	}
	operation := operations[r.Op]
	if operation == nil {
		return Object{"status": "not-implemented"}
	}
	if base := fmt.Sprint(r.Base); r.Base != nil && base != "0" {
		return NotRun("reads files from their start")
	}
	if r.RequireKeys {
		return NotRun("has no check for required keys")
	}
	return operation(r)
}

func Accept(dump Object) Object {
	return Object{"status": "ok", "verdict": "accept", "dump": dump}
}

func Reject(err error) Object {
	return Object{"status": "ok", "verdict": "reject", "detail": fmt.Sprint(String(err.Error()))}
}

func NotRun(why string) Object {
	return Object{"status": "not-run", "why": why}
}

// Data is the answer of gguf.tensor.
func Data(r Request, data []byte) Object {
	if r.Out != "" {
		if err := os.WriteFile(r.Out, data, 0o600); err != nil {
			panic(err)
		}
	}
	return Object{"status": "ok", "verdict": "accept", "size": fmt.Sprint(len(data)),
		"crc32": crc32.ChecksumIEEE(data)}
}

// Reported tells whether an array of this length at this level (1 = outermost)
// is reported: answers are JSON, which nests only so far.
func Reported(length, level int) bool {
	return level <= 80 && length <= maxLength
}

// Longer strings (bytes) and arrays are not reported.
const maxLength = 1 << 22

// String is a JSON string, or the bytes in hex if they are not UTF-8.
func String(s string) any {
	if len(s) > maxLength {
		return nil
	}
	if utf8.ValidString(s) {
		return s
	}
	return Object{"hex": hex.EncodeToString([]byte(s))}
}

// Strings is a list of numbers in decimal.
func Strings(numbers []uint64) []string {
	texts := make([]string, len(numbers))
	for i, number := range numbers {
		texts[i] = fmt.Sprint(number)
	}
	return texts
}

// Scalar is the dump's type name and value of a number, bool or string.
func Scalar(value any) (string, any) {
	switch v := value.(type) {
	case uint8:
		return "u8", v
	case int8:
		return "i8", v
	case uint16:
		return "u16", v
	case int16:
		return "i16", v
	case uint32:
		return "u32", v
	case int32:
		return "i32", v
	case uint64:
		return "u64", fmt.Sprint(v)
	case int64:
		return "i64", fmt.Sprint(v)
	case bool:
		return "bool", v
	case string:
		return "string", String(v)
	case float32:
		if v != v {
			return "f32", "nan"
		}
		return "f32", fmt.Sprintf("0x%08x", math.Float32bits(v))
	case float64:
		if v != v {
			return "f64", "nan"
		}
		return "f64", fmt.Sprintf("0x%016x", math.Float64bits(v))
	}
	panic(fmt.Sprintf("no scalar: %T", value))
}

// TypeNames are the dump's names of the GGUF value types.
var TypeNames = []string{"u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string",
	"array", "u64", "i64", "f64"}
