// The C ABI of an in-process implementation.
//
// A shared object exports one function, wp_implementation_open, which returns
// a table of operations; built-in implementations offer the same table. The
// table lives as long as the process. Only plain C types cross the border.
//
// Conventions. All integers are host integers; buffers of blocks and floats
// are little-endian byte images of the machine's own types. A slice need not
// be aligned. Inputs may share bytes, an output shares none with anything; where
// it does, the built-in numeric implementations refuse. Buffers without bytes
// may be null. Nothing an implementation hands to a sink has to outlive the
// call. Nothing may throw or longjmp across the border. An operation that is
// not offered is a null pointer.
#ifndef WEIGHTPROOF_IMPLS_ABI_H_
#define WEIGHTPROOF_IMPLS_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WP_ABI_VERSION 1u
#define WP_NO_OFFSET UINT64_MAX
#define WP_UNKNOWN UINT64_MAX

typedef struct wp_slice {
  const uint8_t* data;  // may be null if size is 0
  uint64_t size;        // bytes
} wp_slice;

enum wp_status {
  WP_STATUS_OK = 0,               // verdict holds
  WP_STATUS_NOT_IMPLEMENTED = 1,  // no such operation or option
  WP_STATUS_NOT_RUN = 2           // this machine or this input: see detail
};

enum wp_verdict {
  WP_ACCEPT = 0,
  WP_REJECT = 1,
  WP_UNSUPPORTED = 2,
  WP_LIMIT = 3
};

// What an operation says. The caller zeroes it and sets offset to
// WP_NO_OFFSET.
typedef struct wp_answer {
  int32_t status;    // enum wp_status
  int32_t verdict;   // enum wp_verdict, meaningful if status is WP_STATUS_OK
  const char* rule;  // static string, a rule id; null if unknown or accepted
  uint64_t offset;   // byte offset in the file or buffer, or WP_NO_OFFSET
  int64_t row;       // q8 quantize: the row refused
  char detail[256];  // NUL-terminated UTF-8, for people; may be empty
} wp_answer;

// ---- gguf ----

// A file, or as much of it as the caller has. data holds the first data_size
// bytes of a file of file_size bytes (data_size <= file_size); a caller that
// maps files passes all of it. path names the same file where there is one and
// is null otherwise; an implementation that can only open paths answers
// WP_STATUS_NOT_RUN without it.
typedef struct wp_gguf_input {
  wp_slice data;
  uint64_t file_size;
  const char* path;
  uint64_t base;         // the GGUF starts here in the file; usually 0
  const char* profile;   // "spec", "ggml", "candle"; null means spec
  int32_t require_keys;  // non-zero: judge gguf.kv.required.keys
} wp_gguf_input;

typedef struct wp_gguf_header {
  uint32_t version;
  int32_t big_endian;    // 0, 1, or -1 if the reader cannot tell
  uint64_t alignment;    // WP_UNKNOWN if the reader cannot tell
  uint64_t data_offset;  // absolute; WP_UNKNOWN if the reader cannot tell
  uint64_t kv_count;
  uint64_t tensor_count;
} wp_gguf_header;

typedef struct wp_gguf_tensor {
  wp_slice name;
  uint32_t n_dims;
  const uint64_t* dims;  // in file order
  uint32_t type;         // ggml type id
  uint64_t offset;       // relative to the data start
  uint64_t size;         // bytes without padding; WP_UNKNOWN if not known
} wp_gguf_tensor;

// Receives an accepted file, in file order: header once, then for each kv one
// key followed by its value, then the tensors, then the policies. A value is
// one scalar, one string, or array_begin .. array_end around its elements:
// strings and nested arrays one by one, fixed-size elements by any number of
// scalars calls. A reader that lost an element's type passes type WP_UNKNOWN
// cut to 32 bits. Every function is set; none may be null.
typedef struct wp_gguf_sink {
  void* context;
  void (*header)(void* context, const wp_gguf_header* header);
  void (*key)(void* context, wp_slice key, uint32_t value_type);
  // count values of a fixed-size GGUF type, packed, little-endian.
  void (*scalars)(void* context, uint32_t type, const void* values,
                  uint64_t count);
  void (*string)(void* context, wp_slice value);
  void (*array_begin)(void* context, uint32_t element_type, uint64_t count);
  void (*array_end)(void* context);
  void (*tensor)(void* context, const wp_gguf_tensor* tensor);
  void (*policy)(void* context, const char* rule);
} wp_gguf_sink;

// What a check of the data found in a tensor: in a scale, or of all of it.
typedef struct wp_gguf_data_finding {
  const char* rule;  // static string: a rule gguf.values.*
  uint64_t tensor;   // index in table order
  uint64_t block;    // first block with it; 0 if it is about the whole tensor
  uint64_t offset;   // in the file: of the scale in that block, of the tensor
  uint64_t count;    // scales with it; 1 if it is about the whole tensor
} wp_gguf_data_finding;

// Receives them by tensor, those of one tensor by offset.
typedef struct wp_gguf_data_sink {
  void* context;
  void (*finding)(void* context, const wp_gguf_data_finding* finding);
} wp_gguf_data_sink;

// Receives bytes in any number of pieces.
typedef struct wp_bytes_sink {
  void* context;
  void (*write)(void* context, const void* data, uint64_t size);
} wp_bytes_sink;

// ---- the table ----

typedef struct wp_implementation wp_implementation;
struct wp_implementation {
  uint32_t abi_version;  // WP_ABI_VERSION
  const char* name;      // "gguf_view", "ggml/metadata"
  const char* version;
  const char* language;
  const char* profile;  // declared profile, or null
  // Null-terminated lists.
  const char* const* verdicts;     // those it can tell apart
  const char* const* dump_fields;  // those it reports: "version", "endian",
                                   // "alignment", "data_offset",
                                   // "file_size", "kv", "tensors", "policies",
                                   // "size", "order"
  const char* const* variants;     // code paths a call may force
  // Whether this machine can run a variant. Null means all.
  int32_t (*variant_runs)(const char* variant);

  void (*gguf_parse)(const wp_gguf_input* input, const wp_gguf_sink* sink,
                     wp_answer* answer);
  // The bytes of tensor number index.
  void (*gguf_tensor)(const wp_gguf_input* input, uint64_t index,
                      const wp_bytes_sink* out, wp_answer* answer);
  // Reads key as GGUF value type; a value of another type is a rejection.
  void (*gguf_get)(const wp_gguf_input* input, wp_slice key, uint32_t type,
                   const wp_gguf_sink* sink, wp_answer* answer);

  // variant may be null: the implementation chooses. n = row length in
  // elements. Outputs are rows x n / 32 blocks, or floats.
  void (*q8_0_quantize)(const char* variant, const float* x, uint64_t n,
                        uint64_t rows, uint8_t* y, wp_answer* answer);
  void (*q8_1_quantize)(const char* variant, const float* x, uint64_t n,
                        uint64_t rows, uint8_t* y, wp_answer* answer);
  void (*q8_0_dequantize)(const char* variant, const uint8_t* x, uint64_t n,
                          uint64_t rows, float* y, wp_answer* answer);
  // isum: n / 32 integers, or null if the caller does not want them; an
  // implementation that cannot show them sets answer->row to -1.
  void (*q8_0_dot)(const char* variant, const uint8_t* w, const uint8_t* x,
                   uint64_t n, float* y, int32_t* isum, wp_answer* answer);
  // rows x n weights, cols columns of x: blocks (x_blocks) or floats (x_f32),
  // exactly one of them non-null unless empty. y column by column.
  void (*q8_0_matvec)(const char* variant, const uint8_t* w,
                      const uint8_t* x_blocks, const float* x_f32, uint64_t n,
                      uint64_t rows, uint64_t cols, uint32_t threads, float* y,
                      wp_answer* answer);
  // size = bytes of x as given: need not fit n.
  void (*q8_0_validate)(wp_slice x, uint64_t n, uint64_t rows,
                        wp_answer* answer);
  void (*q8_1_validate)(wp_slice x, uint64_t n, uint64_t rows,
                        wp_answer* answer);
  void (*f16_from_f32)(const char* variant, const float* x, uint64_t count,
                       uint16_t* y, wp_answer* answer);
  void (*f16_to_f32)(const char* variant, const uint16_t* x, uint64_t count,
                     float* y, wp_answer* answer);

  // A split set: count files in the order in which they are opened, names[i]
  // the file name of files[i] without folders, sinks[i] for its contents if
  // the set is accepted. Profile and options are those of files[0]. A
  // refusal names its file by answer->row.
  void (*gguf_open_set)(const wp_gguf_input* files, const char* const* names,
                        uint64_t count, const wp_gguf_sink* sinks,
                        wp_answer* answer);

  // Judges the file and, if it is accepted, the data of its tensors: all that
  // is found goes to the sink, and the first finding that the profile does not
  // accept is the answer. Needs the whole file in data.
  void (*gguf_check)(const wp_gguf_input* input, const wp_gguf_data_sink* sink,
                     wp_answer* answer);

  // Writes what contents holds as a new file at the path out, by the
  // implementation's own writer. contents is a sound little-endian file of
  // version 3, all of it in data.
  void (*gguf_write)(const wp_gguf_input* contents, const char* out,
                     wp_answer* answer);
};

// Opens one implementation of a shared object. arguments: free text after
// --arguments on the host's command line, "" if none; a plug-in with several
// instances selects by it. Returns null and fills error (NUL-terminated) if it
// cannot be had here.
typedef const wp_implementation* (*wp_open_function)(const char* arguments,
                                                     char* error,
                                                     size_t error_size);
const wp_implementation* wp_implementation_open(const char* arguments,
                                                char* error, size_t error_size);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // WEIGHTPROOF_IMPLS_ABI_H_
