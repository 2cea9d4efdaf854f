// hyllama: ggufMetadata(arrayBuffer). It returns untyped JavaScript values and
// adds version and tensorCount to the metadata, in front of the file's keys.
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const require = createRequire(`${process.argv[2]}/`)
const { ggufMetadata } = await import(require.resolve('hyllama'))

const MAX_FILE_BYTES = 1 << 30
// Deeper arrays are not reported: answers are JSON, which nests only so far.
const MAX_LEVELS = 80
// Longer strings and arrays are not reported.
const MAX_LENGTH = 1 << 22

const hello = {
  protocol: 1, name: 'hyllama', version: require('hyllama/package.json').version,
  language: 'JavaScript', operations: ['gguf.parse'],
  verdicts: ['accept', 'reject'], dump: ['version', 'kv', 'tensors', 'order'],
  variants: [], profile: null,
}

function value(v, level = 1) {
  if (typeof v === 'bigint') return v.toString()
  if (Array.isArray(v)) {
    const told = level <= MAX_LEVELS && v.length <= MAX_LENGTH
    const items = told ? v.map(item => value(item, level + 1)) : null
    return { elem: null, len: String(v.length), items }
  }
  if (Number.isNaN(v)) return 'nan'
  if (typeof v === 'string' && v.length > MAX_LENGTH) return null
  // JSON has no infinities and no negative zero.
  if (v === Infinity || v === -Infinity || Object.is(v, -0)) return null
  return v
}

function dump({ metadata, tensorInfos }) {
  const { version, tensorCount, ...kv } = metadata
  return {
    version, endian: null, alignment: null, data_offset: null, file_size: null,
    kv: Object.entries(kv).map(([key, v]) => ({ key, type: null, value: value(v) })),
    tensors: tensorInfos.map(t => ({
      name: t.name, dims: t.shape.map(String), type: t.type,
      offset: t.offset.toString(), size: null,
    })),
    policies: null,
  }
}

function parse(request) {
  if (Number(request.base ?? 0) !== 0) {
    return { status: 'not-run', why: 'reads files from their start' }
  }
  if (statSync(request.file).size > MAX_FILE_BYTES) {
    return { status: 'not-run', why: 'needs the file in memory' }
  }
  const bytes = new Uint8Array(readFileSync(request.file))
  let result
  try {
    result = ggufMetadata(bytes.buffer)
  } catch (error) {
    return { status: 'ok', verdict: 'reject', detail: `${error.name}: ${error.message}` }
  }
  return { status: 'ok', verdict: 'accept', dump: dump(result) }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  let answer = { status: 'not-implemented' }
  if (request.op === 'hello') answer = hello
  if (request.op === 'gguf.parse') answer = parse(request)
  process.stdout.write(`${JSON.stringify({ id: request.id, ...answer })}\n`)
}
