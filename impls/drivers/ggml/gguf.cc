#include "impls/drivers/ggml/gguf.h"

#include <sys/stat.h>
#include <sys/types.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "impls/drivers/answer.h"

namespace weightproof::drivers::ggml {
namespace {

constexpr std::uint64_t kMaxLoad = std::uint64_t{1} << 30;
constexpr std::uint64_t kKeepFrom = std::uint64_t{16} << 20;
constexpr std::uint32_t kString = 8, kArray = 9;

Api g_api;

wp_slice Slice(const char* text) {
  return {reinterpret_cast<const std::uint8_t*>(text), std::strlen(text)};
}

// What ggml made of a file; data is null where it was not asked to load it.
struct File {
  GgufContext* gguf = nullptr;
  DataContext* data = nullptr;

  File() = default;
  File(File&& other) noexcept
      : gguf(std::exchange(other.gguf, nullptr)),
        data(std::exchange(other.data, nullptr)) {}
  File& operator=(File&& other) noexcept {
    std::swap(gguf, other.gguf);
    std::swap(data, other.data);
    return *this;
  }
  ~File() {
    if (gguf != nullptr) g_api.gguf_free(gguf);
    if (data != nullptr) g_api.data_free(data);
  }
};

// False: the answer says why. Files are opened as gguf_init_from_file does,
// except that reading starts at the base; buffers need all of the file.
bool Open(const wp_gguf_input& input, bool load, File& file,
          wp_answer* answer) {
  const InitParams params{!load, load ? &file.data : nullptr};
  if (input.path != nullptr) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(
        std::fopen(input.path, "rb"), std::fclose);
    if (stream == nullptr ||
        fseeko(stream.get(), static_cast<off_t>(input.base), SEEK_SET) != 0) {
      NotRun(answer, "cannot open the file");
      return false;
    }
    file.gguf = g_api.init_from_file_ptr(stream.get(), params);
  } else if (input.data.size == input.file_size &&
             input.base <= input.data.size) {
    file.gguf = g_api.init_from_buffer(input.data.data + input.base,
                                       input.data.size - input.base, params);
  } else {
    NotRun(answer, "needs the whole file");
    return false;
  }
  if (file.gguf != nullptr) return true;
  // What ggml logs need not be the same twice: it stays on standard error.
  Reject(answer, "ggml returns no context; its log is on standard error");
  return false;
}

// What ggml would allocate for the tensor data, by its own arithmetic.
std::uint64_t DataSize(const GgufContext* gguf) {
  const std::uint64_t mask = g_api.get_alignment(gguf) - 1;
  std::uint64_t size = 0;
  for (std::int64_t i = 0; i < g_api.get_n_tensors(gguf); ++i) {
    size += (g_api.get_tensor_size(gguf, i) + mask) & ~mask;
  }
  return size;
}

bool OpenLoaded(const wp_gguf_input& input, File& file, wp_answer* answer) {
  {
    File metadata;
    if (!Open(input, false, metadata, answer)) return false;
    const std::uint64_t size = DataSize(metadata.gguf);
    if (size > kMaxLoad) {
      NotRun(answer, "ggml would load " + std::to_string(size) +
                         " bytes; over 1 GiB is not run");
      return false;
    }
  }
  return Open(input, true, file, answer);
}

void EmitValue(const GgufContext* gguf, std::int64_t i,
               const wp_gguf_sink* sink) {
  const auto type = static_cast<std::uint32_t>(g_api.get_kv_type(gguf, i));
  if (type == kString) {
    sink->string(sink->context, Slice(g_api.get_val_str(gguf, i)));
  } else if (type != kArray) {
    sink->scalars(sink->context, type, g_api.get_val_data(gguf, i), 1);
  } else {
    const auto element =
        static_cast<std::uint32_t>(g_api.get_arr_type(gguf, i));
    const std::size_t n = g_api.get_arr_n(gguf, i);
    sink->array_begin(sink->context, element, n);
    if (element != kString) {
      if (n != 0) {
        sink->scalars(sink->context, element, g_api.get_arr_data(gguf, i), n);
      }
    } else {
      for (std::size_t j = 0; j < n; ++j) {
        sink->string(sink->context, Slice(g_api.get_arr_str(gguf, i, j)));
      }
    }
    sink->array_end(sink->context);
  }
}

void EmitTensor(const GgufContext* gguf, std::int64_t i,
                const wp_gguf_sink* sink) {
  const std::int64_t* const ne = g_api.get_tensor_ne(gguf, i);
  std::uint64_t dims[kMaxDims];
  for (int j = 0; j < kMaxDims; ++j) {
    dims[j] = static_cast<std::uint64_t>(ne[j]);
  }
  // ggml keeps four dimensions and not how many there were: trailing ones
  // are left out.
  std::uint32_t n_dims = kMaxDims;
  while (n_dims > 1 && dims[n_dims - 1] == 1) --n_dims;
  const wp_gguf_tensor tensor{
      .name = Slice(g_api.get_tensor_name(gguf, i)),
      .n_dims = n_dims,
      .dims = dims,
      .type = static_cast<std::uint32_t>(g_api.get_tensor_type(gguf, i)),
      .offset = g_api.get_tensor_offset(gguf, i),
      .size = g_api.get_tensor_size(gguf, i)};
  sink->tensor(sink->context, &tensor);
}

void EmitFile(const GgufContext* gguf, const wp_gguf_sink* sink,
              wp_answer* answer) {
  const wp_gguf_header header{
      .version = g_api.get_version(gguf),
      .big_endian = -1,
      .alignment = g_api.get_alignment(gguf),
      .data_offset = g_api.get_data_offset(gguf),
      .kv_count = static_cast<std::uint64_t>(g_api.get_n_kv(gguf)),
      .tensor_count = static_cast<std::uint64_t>(g_api.get_n_tensors(gguf))};
  sink->header(sink->context, &header);
  for (std::int64_t i = 0; i < g_api.get_n_kv(gguf); ++i) {
    sink->key(sink->context, Slice(g_api.get_key(gguf, i)),
              static_cast<std::uint32_t>(g_api.get_kv_type(gguf, i)));
    EmitValue(gguf, i, sink);
  }
  for (std::int64_t i = 0; i < g_api.get_n_tensors(gguf); ++i) {
    EmitTensor(gguf, i, sink);
  }
  Accept(answer);
}

void ParseMetadata(const wp_gguf_input* input, const wp_gguf_sink* sink,
                   wp_answer* answer) {
  File file;
  if (Open(*input, false, file, answer)) EmitFile(file.gguf, sink, answer);
}

void ParseFull(const wp_gguf_input* input, const wp_gguf_sink* sink,
               wp_answer* answer) {
  File file;
  if (OpenLoaded(*input, file, answer)) EmitFile(file.gguf, sink, answer);
}

// The last large file stays loaded: a model has hundreds of tensors, and each
// is asked for by a request of its own.
const File* Keep(const wp_gguf_input& input, wp_answer* answer) {
  static File kept;
  static struct stat kept_as{};
  struct stat now{};
  const bool keepable = input.path != nullptr && input.base == 0 &&
                        input.file_size >= kKeepFrom &&
                        stat(input.path, &now) == 0;
  if (keepable && kept.gguf != nullptr && now.st_dev == kept_as.st_dev &&
      now.st_ino == kept_as.st_ino && now.st_size == kept_as.st_size &&
      now.st_ctim.tv_sec == kept_as.st_ctim.tv_sec &&
      now.st_ctim.tv_nsec == kept_as.st_ctim.tv_nsec) {
    return &kept;
  }
  kept = File();
  kept_as = keepable ? now : decltype(now){};
  return OpenLoaded(input, kept, answer) ? &kept : nullptr;
}

void ReadTensor(const wp_gguf_input* input, std::uint64_t index,
                const wp_bytes_sink* out, wp_answer* answer) {
  const File* const file = Keep(*input, answer);
  if (file == nullptr) return;
  if (index >= static_cast<std::uint64_t>(g_api.get_n_tensors(file->gguf))) {
    return Reject(answer, "no tensor of this number");
  }
  Tensor* const tensor = g_api.get_tensor(
      file->data,
      g_api.get_tensor_name(file->gguf, static_cast<std::int64_t>(index)));
  if (tensor == nullptr) return Reject(answer, "ggml does not find its name");
  // A size that ggml got wrong must not make this plug-in read past what ggml
  // loaded: the first tensor of the context is the block of all data.
  Tensor* const block = g_api.get_first_tensor(file->data);
  const auto* const begin =
      static_cast<const std::uint8_t*>(g_api.get_data(block));
  const auto* const data =
      static_cast<const std::uint8_t*>(g_api.get_data(tensor));
  const std::uint64_t left =
      g_api.nbytes(block) - static_cast<std::uint64_t>(data - begin);
  out->write(out->context, data,
             std::min<std::uint64_t>(g_api.nbytes(tensor), left));
  Accept(answer);
}

template <typename Value>
void EmitGot(const wp_gguf_sink* sink, std::uint32_t type, Value value) {
  sink->scalars(sink->context, type, &value, 1);
}

// The typed getters end the process if the value has another type; that is
// ggml's answer, so nothing is checked before the call.
void Get(const wp_gguf_input* input, wp_slice key, std::uint32_t type,
         const wp_gguf_sink* sink, wp_answer* answer) {
  File file;
  if (!Open(*input, false, file, answer)) return;
  const std::string name(reinterpret_cast<const char*>(key.data), key.size);
  const std::int64_t i = g_api.find_key(file.gguf, name.c_str());
  if (i < 0) return Reject(answer, "gguf_find_key finds no such key");
  const GgufContext* const gguf = file.gguf;
  switch (type) {
    case 0:
      g_api.get_val_u8(gguf, i);
      break;
    case 1:
      g_api.get_val_i8(gguf, i);
      break;
    case 2:
      g_api.get_val_u16(gguf, i);
      break;
    case 3:
      g_api.get_val_i16(gguf, i);
      break;
    case 4:
      g_api.get_val_u32(gguf, i);
      break;
    case 5:
      g_api.get_val_i32(gguf, i);
      break;
    case 6:
      g_api.get_val_f32(gguf, i);
      break;
    case 7:
      g_api.get_val_bool(gguf, i);
      break;
    case kString:
      g_api.get_val_str(gguf, i);
      break;
    case kArray:
      g_api.get_arr_n(gguf, i);
      break;
    case 10:
      g_api.get_val_u64(gguf, i);
      break;
    case 11:
      g_api.get_val_i64(gguf, i);
      break;
    case 12:
      g_api.get_val_f64(gguf, i);
      break;
    default:
      return Reject(answer, "no such GGUF type");
  }
  sink->key(sink->context, key, type);
  EmitValue(gguf, i, sink);
  Accept(answer);
}

// As gguf-split does: keys and tensors of one context into another, which is
// written.
void Write(const wp_gguf_input* contents, const char* out, wp_answer* answer) {
  File from;
  if (!OpenLoaded(*contents, from, answer)) return;
  File to;
  to.gguf = g_api.init_empty();
  g_api.set_kv(to.gguf, from.gguf);
  for (Tensor* tensor = g_api.get_first_tensor(from.data); tensor != nullptr;
       tensor = g_api.get_next_tensor(from.data, tensor)) {
    const std::int64_t i = g_api.find_tensor(from.gguf, g_api.get_name(tensor));
    if (i >= 0) g_api.add_tensor(to.gguf, tensor);
  }
  if (!g_api.write_to_file(to.gguf, out, false)) {
    return Reject(answer, "gguf_write_to_file says no");
  }
  Accept(answer);
}

// ggml's own validation of rows, as `llama-cli --check-tensors` runs it. It
// says yes or no.
void Check(const wp_gguf_input* input, const wp_gguf_data_sink*,
           wp_answer* answer) {
  File file;
  if (!OpenLoaded(*input, file, answer)) return;
  for (std::int64_t i = 0; i < g_api.get_n_tensors(file.gguf); ++i) {
    const char* const name = g_api.get_tensor_name(file.gguf, i);
    Tensor* const tensor = g_api.get_tensor(file.data, name);
    const void* const data =
        tensor != nullptr ? g_api.get_data(tensor) : nullptr;
    if (data == nullptr) continue;
    if (!g_api.validate_row_data(g_api.get_tensor_type(file.gguf, i), data,
                                 g_api.nbytes(tensor))) {
      return Reject(answer,
                    std::string(name) + ": ggml_validate_row_data says no");
    }
  }
  Accept(answer);
}

const char* const kFields[] = {"version", "alignment", "data_offset", "kv",
                               "tensors", "size",      "order",       nullptr};

wp_implementation Table(const char* name) {
  wp_implementation table{};
  table.abi_version = WP_ABI_VERSION;
  table.name = name;
  table.version = kVersion;
  table.language = "C++";
  table.verdicts = kVerdicts;
  table.dump_fields = kFields;
  table.variants = kNoVariants;
  table.gguf_get = Get;
  return table;
}

}  // namespace

const wp_implementation* MetadataImplementation(const Api& api) {
  static wp_implementation table = Table("ggml/metadata");
  g_api = api;
  table.gguf_parse = ParseMetadata;
  return &table;
}

const wp_implementation* FullImplementation(const Api& api) {
  static wp_implementation table = Table("ggml/full");
  g_api = api;
  table.gguf_parse = ParseFull;
  table.gguf_tensor = ReadTensor;
  table.gguf_check = Check;
  table.gguf_write = Write;
  return &table;
}

}  // namespace weightproof::drivers::ggml
